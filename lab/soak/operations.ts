// Operators while a service is under load: they create keys and destinations, read lists, change and delete.
import { request } from 'undici';
import type { Lab } from '../replicas/lab.js';

export interface OperationReport {
  answered: number;
  /** 503 and broken connections, as faults bring them. */
  rejected: number;
  readonly wrong: string[];
}

const LISTS = [
  '/keys',
  '/models',
  '/observability/destinations',
  '/workspaces',
  '/audit-logs',
  '/activity',
  '/key',
  '/credits',
];
const MAX_WRONG = 20;

interface Answer {
  readonly status: number;
  readonly body: { readonly data?: { readonly id?: string; readonly hash?: string } };
}

/** One round of operations: lists, and a key and a destination that are made, changed and removed. */
export async function operate(lab: Lab, report: OperationReport): Promise<void> {
  const ask = (method: string, path: string, body?: object) => call(lab, method, path, body, report);
  for (const path of LISTS) await ask('GET', path);
  await removeLeftovers(lab, report);
  const key = await ask('POST', '/keys', { name: 'Soaked', limit: 1, limit_reset: 'daily' });
  if (key?.body.data?.hash !== undefined) {
    await ask('PATCH', `/keys/${key.body.data.hash}`, { name: 'Soaked through', disabled: true });
    await ask('DELETE', `/keys/${key.body.data.hash}`);
  }
  const url = `http://127.0.0.1:${lab.receiverProxy.port}/never`;
  const destination = await ask('POST', '/observability/destinations', {
    type: 'webhook',
    name: 'Soaked',
    enabled: false,
    config: { url },
  });
  const id = destination?.body.data?.id;
  if (id === undefined) return;
  await ask('PATCH', `/observability/destinations/${id}`, { name: 'Soaked through' });
  await ask('GET', `/observability/destinations/${id}`);
  await ask('DELETE', `/observability/destinations/${id}`);
}

/** Destinations of rounds that a fault has cut short: a workspace may have five of a kind. */
async function removeLeftovers(lab: Lab, report: OperationReport): Promise<void> {
  const listed = await call(lab, 'GET', '/observability/destinations', undefined, report);
  const destinations = Array.isArray(listed?.body.data) ? listed.body.data : [];
  for (const { id, name } of destinations as readonly { readonly id: string; readonly name: string }[]) {
    if (name.startsWith('Soaked'))
      await call(lab, 'DELETE', `/observability/destinations/${id}`, undefined, report);
  }
}

async function call(
  lab: Lab,
  method: string,
  path: string,
  body: object | undefined,
  report: OperationReport,
): Promise<Answer | null> {
  const replica = lab.replicas[Math.floor(lab.random() * lab.replicas.length)];
  try {
    const { statusCode, body: answer } = await request(`${replica?.baseUrl}${path}`, {
      method: method as 'GET',
      dispatcher: lab.agent,
      headers: { authorization: `Bearer ${lab.keys.managementKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: 60_000,
    });
    const text = await answer.text();
    if (statusCode < 300) report.answered++;
    // 408: a statement that took too long. 404: what a broken call has removed after all.
    else if ([404, 408, 503].includes(statusCode)) report.rejected++;
    else if (report.wrong.length < MAX_WRONG)
      report.wrong.push(`${method} ${path}: ${statusCode} ${text.slice(0, 200)}`);
    return { status: statusCode, body: JSON.parse(text) as Answer['body'] };
  } catch {
    report.rejected++;
    return null;
  }
}
