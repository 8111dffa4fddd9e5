// Takes all the time of a core that it can get, until its parent ends it or is gone.
const parent = process.ppid;
while (process.ppid === parent) {
  const until = Date.now() + 200;
  while (Date.now() < until);
}
