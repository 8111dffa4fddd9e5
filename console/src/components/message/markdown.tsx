// Markdown that a model or a user has written, as React elements: HTML in it stays text, links lead to the web alone, and
// images of other origins are not loaded. A chunk of its own, because the parser is large.
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import { useDeferredValue, useMemo } from 'react';
import type { ReactNode } from 'react';
import { CodeBlock } from '../data/code-block';
import { Image } from './image';
import styles from './markdown.module.css';

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
// "example.com" without a scheme is seldom meant as a link.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

export function Markdown({ text }: { readonly text: string }) {
  // Chunks of an answer come faster than a long one is parsed.
  const shown = useDeferredValue(text);
  const content = useMemo(() => toElements(parser.parse(shown, {})), [shown]);
  return <div className={styles.markdown}>{content}</div>;
}

interface OpenToken {
  readonly token: Token;
  /** The nodes before it. */
  readonly before: ReactNode[];
}

function toElements(tokens: readonly Token[]): ReactNode[] {
  const open: OpenToken[] = [];
  let nodes: ReactNode[] = [];
  tokens.forEach((token, key) => {
    if (token.nesting === 1) {
      open.push({ token, before: nodes });
      nodes = [];
      return;
    }
    const parent = token.nesting === -1 ? open.pop() : undefined;
    if (parent === undefined) {
      nodes.push(leafOf(token, key));
      return;
    }
    const element = elementOf(parent.token, nodes, key);
    nodes = parent.before;
    nodes.push(element);
  });
  return nodes;
}

/** The text of a leaf that is not known is shown as it is. */
function leafOf(token: Token, key: number): ReactNode {
  const { type, content, children } = token;
  switch (type) {
    case 'inline':
      return toElements(children ?? []);
    case 'code_inline':
      return <code key={key}>{content}</code>;
    case 'fence':
    case 'code_block':
      return (
        <div key={key} className={styles.code}>
          <CodeBlock code={content.replace(/\n$/, '')} what="code" />
        </div>
      );
    case 'softbreak':
    case 'hardbreak':
      return <br key={key} />;
    case 'hr':
      return <hr key={key} />;
    case 'image':
      return <Image key={key} url={String(token.attrGet('src') ?? '')} description={content} />;
    default:
      return content;
  }
}

const ALIGNMENTS: Readonly<Record<string, string | undefined>> = {
  'text-align:center': styles.center,
  'text-align:right': styles.end,
};

function elementOf(token: Token, nodes: ReactNode[], key: number): ReactNode {
  const alignment = ALIGNMENTS[token.attrGet('style') ?? ''];
  switch (token.type) {
    case 'paragraph_open':
      // Items of a tight list have no paragraphs.
      if (token.hidden) return nodes;
      return (
        <p key={key} dir="auto">
          {nodes}
        </p>
      );
    case 'heading_open':
      // Not a heading of the page, whose outline it would break.
      return (
        <p key={key} dir="auto" className={token.tag === 'h1' ? styles.title : styles.heading}>
          {nodes}
        </p>
      );
    case 'bullet_list_open':
      return <ul key={key}>{nodes}</ul>;
    case 'ordered_list_open':
      return (
        <ol key={key} start={Number(token.attrGet('start') ?? 1)}>
          {nodes}
        </ol>
      );
    case 'list_item_open':
      return (
        <li key={key} dir="auto">
          {nodes}
        </li>
      );
    case 'blockquote_open':
      return <blockquote key={key}>{nodes}</blockquote>;
    case 'table_open':
      return (
        // Focusable, so that the keyboard can scroll what is wider than the page.
        <div key={key} className={styles.scroller} role="group" aria-label="Table" tabIndex={0}>
          <table>{nodes}</table>
        </div>
      );
    case 'thead_open':
      return <thead key={key}>{nodes}</thead>;
    case 'tbody_open':
      return <tbody key={key}>{nodes}</tbody>;
    case 'tr_open':
      return <tr key={key}>{nodes}</tr>;
    // Not `th`, which may not be empty.
    case 'th_open':
    case 'td_open':
      return (
        <td key={key} dir="auto" className={alignment}>
          {nodes}
        </td>
      );
    case 'em_open':
      return <em key={key}>{nodes}</em>;
    case 'strong_open':
      return <strong key={key}>{nodes}</strong>;
    case 's_open':
      return <s key={key}>{nodes}</s>;
    case 'link_open':
      return <WebLink key={key} address={String(token.attrGet('href') ?? '')} nodes={nodes} />;
    default:
      return nodes;
  }
}

const WEB = /^(?:https?|mailto):/i;

/** An address of the console itself, or of another scheme, is no link. */
function WebLink({ address, nodes }: { readonly address: string; readonly nodes: ReactNode[] }) {
  if (!WEB.test(address)) return <span title={address}>{nodes}</span>;
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {nodes}
    </a>
  );
}
