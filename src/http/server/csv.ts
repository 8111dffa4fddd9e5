// Lists as CSV (RFC 4180) for clients that accept text/csv: the same page as in JSON, one row for each record.
import { applyDecorators, Injectable, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import { ApiProduces } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { membersOf } from '../fields/field.js';
import { RouteRule } from '../../config/route-rule.js';

interface CsvRule {
  /** The class of the records: its documented members are the columns. */
  readonly row: Type;
  /** Query parameters of the next page; null: this is the last page. */
  readonly next: (body: ListBody, request: Request) => Readonly<Record<string, string>> | null;
}

interface ListBody {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly [member: string]: unknown;
}

const RULE = new RouteRule<CsvRule>('http:csv');
// Spreadsheets run cells that begin so (CWE-1236), with full-width signs and behind a line feed as well.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

@Injectable()
class CsvInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rule = RULE.of(context);
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    response.vary('Accept');
    if (!rule || request.accepts(['json', 'csv']) !== 'csv') return next.handle();
    return next.handle().pipe(
      map((body: ListBody) => {
        const further = rule.next(body, request);
        if (further) response.set('Link', `<${nextUrl(request, further)}>; rel="next"`);
        response.type('text/csv; charset=utf-8');
        return toCsv(membersOf(rule.row), body.data);
      }),
    );
  }
}

/** Answers `text/csv` as well. A header `Link` with `rel="next"` names the next page. */
export const AlsoCsv = (row: Type, next: CsvRule['next']): MethodDecorator =>
  applyDecorators(
    RULE.is({ row, next }),
    UseInterceptors(CsvInterceptor),
    ApiProduces('application/json', 'text/csv'),
  );

/** The next page of a list whose body names it by this member. */
export const nextBy =
  (member: string, parameter: string): CsvRule['next'] =>
  (body) => {
    const value = body[member];
    return typeof value === 'string' ? { [parameter]: value } : null;
  };

/** The next page of a list by offset: there is one unless this page is short. */
export const nextByOffset =
  (defaultLimit: number): CsvRule['next'] =>
  ({ data }, { query }) => {
    const limit = Number(query['limit'] ?? defaultLimit);
    return data.length < limit ? null : { offset: String(Number(query['offset'] ?? 0) + limit) };
  };

export function toCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function nextUrl({ originalUrl }: Request, further: Readonly<Record<string, string>>): string {
  const [path = '', query = ''] = originalUrl.split('?');
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(further)) parameters.set(name, value);
  return `${path}?${parameters.toString()}`;
}
