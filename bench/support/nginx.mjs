// nginx as a proxy with one worker: the cost of a hop without JavaScript.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { findFreePort } from '../../scripts/support/postmaster.mjs';
import { sleep } from '../../scripts/support/processes.mjs';
import { runCommand } from '../../scripts/support/run-command.mjs';

const START_ATTEMPTS = 100;

/** Its version, or null where it is not installed. */
export async function findNginx(signal) {
  for (const program of ['nginx', '/usr/sbin/nginx']) {
    try {
      const output = await runCommand(program, ['-v'], { signal });
      return { program, version: /nginx\/(\S+)/.exec(output)?.[1] ?? 'nginx' };
    } catch {
      signal.throwIfAborted();
    }
  }
  return null;
}

function configuration(directory, port, upstream) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${directory}/${name};`)
    .join('\n');
  return `daemon off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
${temporary}
  keepalive_requests 1000000000;
  client_max_body_size 20m;
  upstream stub { server ${upstream.host}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://stub;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_max_temp_file_size 0;
    }
  }
}
`;
}

async function waitForPort(port, child, signal) {
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    if (child.exitCode !== null) break;
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await sleep(50, signal);
    } finally {
      socket.destroy();
    }
  }
  throw new Error('nginx does not start');
}

export async function startNginx({ program, upstreamOrigin, directory: parent, signal }) {
  const directory = join(parent, 'nginx');
  mkdirSync(directory, { mode: 0o777 });
  const port = await findFreePort();
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, configuration(directory, port, new URL(upstreamOrigin)));
  const child = spawn(program, ['-c', file, '-p', directory, '-e', join(directory, 'error.log')], {
    stdio: 'ignore',
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  try {
    await waitForPort(port, child, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid, stop };
}
