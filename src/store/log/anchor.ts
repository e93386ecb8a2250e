import { hash } from 'node:crypto';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Log } from '../journal.ts';

export interface Anchor {
  /** `lifeboat/<16 hex digits>`. */
  readonly origin: string;
  readonly size: number;
  /** The first 20 hex digits of the root. */
  readonly root: string;
}

const ROOT_DIGITS = 20;
const FORM = /^lifeboat:([0-9a-f]{16}):([1-9]\d{0,14}):([0-9a-f]{20}):([0-9a-f]{4})$/u;

/**
 * The head of the log in one line, for a ticket that no one who rewrites the journal can reach. It pins the
 * whole store: `lifeboat:<log>:<size>:<20 hex digits of the root>:<4 hex digits of the SHA-256 before them>`.
 */
export function anchorOf({ origin, size, root }: Anchor): string {
  const text = `${origin.replace('/', ':')}:${size}:${root.slice(0, ROOT_DIGITS)}`;
  return `${text}:${checkOf(text)}`;
}

/** Undefined for an empty store. Rejects if the log is damaged. */
export async function anchorOfHead(log: Pick<Log, 'origin' | 'head'>): Promise<string | undefined> {
  const [origin, head] = [await log.origin(), await log.head()];
  return origin === undefined ? undefined : anchorOf({ origin, ...head });
}

/** Throws `anchor.typo` (exit 2) if the text is incomplete or mistyped. */
export function parseAnchor(pasted: string): Anchor {
  const text = pasted.replace(/^[\s'"`<(]+|[\s'"`>).,;]+$/gu, '');
  const [whole, log, size, root, check] = FORM.exec(text) ?? [];
  if (whole !== undefined && root !== undefined && checkOf(text.slice(0, -5)) === check)
    return { origin: `lifeboat/${log}`, size: Number(size), root };
  throw new LifeboatError('anchor.typo', `this is not an anchor, or not copied whole: ${show(pasted, 120)}`, {
    hints: [
      'it looks like lifeboat:16 HEX DIGITS:NUMBER:20 HEX DIGITS:4 HEX DIGITS',
      'nothing was verified by it',
    ],
    exitCode: EXIT.usage,
  });
}

function checkOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 4);
}
