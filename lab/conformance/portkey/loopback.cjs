// Loaded before a gateway that has no option for its host: it listens on 127.0.0.1 and a free port, sends the address
// to its parent process, and ends with it.
const { Server } = require('node:net');

const listen = Reflect.get(Server.prototype, 'listen');
Server.prototype.listen = function listenOnLoopback(...given) {
  const onListening = given.find((argument) => typeof argument === 'function');
  const tell = () => {
    process.send({ baseUrl: `http://127.0.0.1:${this.address().port}/v1` });
    onListening?.call(this);
  };
  return Reflect.apply(listen, this, [{ host: '127.0.0.1', port: 0 }, tell]);
};
process.on('disconnect', () => process.exit());
