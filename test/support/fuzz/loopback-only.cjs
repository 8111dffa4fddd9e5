// Loaded before a service that receives hostile requests: it restricts connections to this machine, and reports memory
// and connections on request.
const { subscribe } = require('node:diagnostics_channel');
const dns = require('node:dns');
const promises = require('node:dns/promises');
const { syncBuiltinESMExports } = require('node:module');
const { BlockList, isIP, Socket } = require('node:net');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const here = new BlockList();
here.addSubnet('127.0.0.0', 8, 'ipv4');
here.addAddress('::1', 'ipv6');
const isHere = (address) => isIP(address) !== 0 && here.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
promises.lookup = async (host, options) => {
  const found = isIP(host) === 0 ? LOOPBACK : [{ address: host, family: isIP(host) }];
  if (host !== 'localhost' && found === LOOPBACK)
    throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  return options?.all ? found : found[0];
};
dns.lookup = (host, options, callback) => {
  const answer = callback ?? options;
  promises.lookup(host, { all: true }).then(
    (found) => (options.all ? answer(null, found) : answer(null, found[0].address, found[0].family)),
    (error) => answer(error),
  );
};
syncBuiltinESMExports();

const connect = Reflect.get(Socket.prototype, 'connect');
Socket.prototype.connect = function connectHere(...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const host = options?.host ?? options?.hostname;
  if (typeof host !== 'string' || isIP(host) === 0 || isHere(host))
    return Reflect.apply(connect, this, given);
  const unreachable = Object.assign(new Error('connect ENETUNREACH'), { code: 'ENETUNREACH' });
  process.nextTick(() => this.destroy(unreachable));
  return this;
};

const connections = new Set();
subscribe('net.server.socket', ({ socket }) => {
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
process.on('message', () => {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ memory: heapUsed + external, rss, connections: connections.size });
});
