import type { AuditTrust, Facts } from '../../../view/app/sources.ts';
import { type Layout, wholeBody } from '../../bands.ts';
import { wrapLine } from '../../line.ts';
import type { Around, BoundKey } from '../../live-screen.ts';
import {
  holdsText,
  type PathField,
  type PathIntent,
  pathField,
  pathIn,
  pathKeys,
  pathLines,
  whyNotFile,
} from '../../parts/path-field.ts';
import { type Line, type Look, span } from '../../span.ts';

export type TrustIntent = 'take' | PathIntent;

/** A field for what pins the journal from outside of it: a file with public keys, or an anchor. */
export function trustField(given: readonly string[]): PathField {
  return pathField({ source: 'publicKeyFile', orText: 'lifeboat:' }, given);
}

/** The keys of the field now, without the one that closes it. */
export function trustKeys(path: PathField, facts: Facts): readonly BoundKey<TrustIntent>[] {
  return [{ ...TAKE, disabled: whyNotFile(path, facts) }, ...pathKeys(path)];
}

const TAKE: BoundKey<TrustIntent> = {
  intent: 'take',
  keys: ['enter'],
  shown: 'Enter',
  label: 'verify',
  description: 'verify the log against it, and against what was given before',
  inFooter: true,
};

/** What the journal is verified against once this was given, too. */
export function withTrust(trust: AuditTrust, path: PathField): AuditTrust {
  return holdsText(path) ? { ...trust, anchor: pathIn(path) } : { ...trust, publicKey: pathIn(path) };
}

export function trustLayout(path: PathField, { facts, size }: Around, look: Look): Layout {
  const { columns, rows } = size;
  const words = {
    label: 'file or anchor: ',
    empty:
      'a file with the public key of the installation that signs (`lifeboat audit key` prints it there; keep it elsewhere), ' +
      'or the anchor from a ticket: lifeboat:...',
    ready: holdsText(path)
      ? 'it is an anchor: Enter verifies the log against it'
      : 'it holds a public key: Enter verifies the log against it',
  };
  return wholeBody(pathLines(path, facts, words, [columns, rows], look), size);
}

/** What a log is verified against besides its own places; no rows where that is nothing. */
export function trustLines({ publicKey, anchor }: AuditTrust, width: number): readonly Line[] {
  const row = (label: string, value: string | undefined): readonly Line[] =>
    value === undefined ? [] : wrapLine([span(`${label} `, 'text.dim'), span(value)], width, 2);
  return [...row('against the public key in', publicKey), ...row('against the anchor', anchor)];
}
