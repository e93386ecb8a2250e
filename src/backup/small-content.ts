import { formatBytes } from '../base/format.ts';
import { show, untrust } from '../base/text.ts';
import { namesError } from './error-lines.ts';

/** A text larger than this is not the message of a failed dump. */
export const MESSAGE_LIMIT = 64 * 1024;

/**
 * Whether content is a short text without any statement, which a dump would have: the message of a failed
 * dump, or a proxy's page, packed and encrypted as if it were data. Returns a description with its beginning;
 * undefined for anything that may be data. `content` is all of it, at most `MESSAGE_LIMIT` bytes.
 */
export function messageIn(content: Buffer): string | undefined {
  const text = textOf(content);
  if (text === undefined) return undefined;
  if (text.split('\n').every((line) => /^\s*(?:--|$)/u.test(line)) && text.trim() !== '')
    return `only comments, ${formatBytes(content.length)}`;
  if (!/^\s*<(?:!doctype\s+html|html)\b/iu.test(text) && DATA.test(text)) return undefined;
  const begins = text.trim().split(/\r?\n/u, 1)[0] ?? '';
  if (begins === '') return `only white space, ${formatBytes(content.length)}`;
  return noDump(content.length, begins);
}

/** The description of a text of this length whose first non-blank line is `begins`. */
export function noDump(length: number, begins: string): string {
  return `a text of ${formatBytes(length)} that is no dump; it begins: ${show(untrust(begins), 80)}`;
}

/**
 * As `messageIn`, but only for a text that names an error: files in a backup may be short texts, and the
 * message of a failed dump stands alone.
 */
export function errorIn(content: Buffer): string | undefined {
  const message = messageIn(content);
  return message !== undefined && namesError(content.toString('utf8')) ? message : undefined;
}

/**
 * What only data has: a statement that ends its line, a comment as at the beginning of a dump, JSON with one
 * record a line, LDIF.
 */
const DATA = /;[ \t]*$|^-- |^\/\*|^dn:|^\{.*\}\s*\n\{/mu;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The content if it is text: UTF-8 without control bytes that no text has. */
function textOf(content: Buffer): string | undefined {
  if (content.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b))) return undefined;
  try {
    return decoder.decode(content);
  } catch {
    return undefined;
  }
}
