// Preloaded into a service: its Date is as many milliseconds ahead as a file says, which is read again at every SIGUSR2.
import { readFileSync } from 'node:fs';

const RealDate = Date;
let shift = 0;
const readShift = () => {
  shift = Number(readFileSync(process.env.FAULT_CLOCK_FILE, 'utf8'));
};
readShift();
process.on('SIGUSR2', () => {
  readShift();
  process.send('shifted');
});

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
