// Pages of the service itself: static text, without a script and without the console's build.
import type { Response } from 'express';

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

export interface HtmlPage {
  readonly status: number;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly link?: { readonly href: string; readonly text: string };
}

export function sendHtmlPage(response: Response, { status, title, paragraphs, link }: HtmlPage): void {
  const lines = [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)} · signalbox</title>`,
    '<meta name="viewport" content="width=device-width"></head><body>',
    `<h1>${escaped(title)}</h1>`,
    ...paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`),
    ...(link === undefined ? [] : [`<p><a href="${escaped(link.href)}">${escaped(link.text)}</a></p>`]),
    '</body></html>',
    '',
  ];
  response.status(status).set(HEADERS).type('html').send(lines.join('\n'));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
