import type { Facts } from '../../../view/app/sources.ts';
import { type Layout, wholeBody } from '../../bands.ts';
import type { AppEffect, Around, BoundKey, Input } from '../../live-screen.ts';
import {
  type PathField,
  type PathIntent,
  pathAfter,
  pathField,
  pathIn,
  pathKeys,
  pathLines,
  whyNotFile,
} from '../../parts/path-field.ts';
import type { Look } from '../../span.ts';

/** The field in which somebody names the file with a key of an instance. */
export interface KeyFile {
  readonly instance: string;
  readonly path: PathField;
  /** Whether the screen was opened for it alone: then it goes when the field does. */
  readonly isAlone: boolean;
}

/** A field for the file with a key of an instance; these paths can be had again. */
export function keyFile(instance: string, given: readonly string[], isAlone: boolean): KeyFile {
  return { instance, path: pathField({ source: 'secretFile' }, given), isAlone };
}

export type KeyFileIntent = 'take' | 'close' | PathIntent;

/** The keys of the field now. */
export function keyFileKeys({ path }: KeyFile, facts: Facts): readonly BoundKey<KeyFileIntent>[] {
  return [{ ...TAKE, disabled: whyNotFile(path, facts) }, ...pathKeys(path), CLOSE];
}

const TAKE: BoundKey<KeyFileIntent> = {
  intent: 'take',
  keys: ['enter'],
  shown: 'Enter',
  label: 'store the key',
  description: 'store the key that the file holds, as `lifeboat keys add NAME --file FILE` does',
  inFooter: true,
};
const CLOSE: BoundKey<KeyFileIntent> = {
  intent: 'close',
  keys: ['escape', 'ctrl+c'],
  shown: 'Esc',
  label: 'back',
  description: 'go back; nothing is stored',
  inFooter: true,
};

/** The field after an input; undefined once it is closed. An effect says that the path was given. */
export function keyFileAfter(
  over: KeyFile,
  input: Input<string>,
): readonly [KeyFile | undefined, ...AppEffect[]] {
  const { instance, path, isAlone } = over;
  const intent = input.type === 'intent' ? input.intent : undefined;
  if (intent === 'close') return isAlone ? [over, { type: 'back' }] : [undefined];
  if (intent === 'take') {
    const said = { type: 'say', text: `storing the key of ${instance}` } as const;
    const add = { type: 'add-key', instance, file: pathIn(path) } as const;
    return isAlone ? [over, said, { type: 'instead', effect: add }] : [undefined, said, add];
  }
  return [{ ...over, path: pathAfter(path, input) }];
}

export function keyFileLayout({ instance, path }: KeyFile, { facts, size }: Around, look: Look): Layout {
  const { columns, rows } = size;
  const words = {
    label: 'file: ',
    empty: `the file holds the key of ${instance} and nothing else, on one line; ~/ is your home`,
    ready: `it can be read: Enter stores it as a key of ${instance}`,
  };
  return wholeBody(pathLines(path, facts, words, [columns, rows], look), size);
}
