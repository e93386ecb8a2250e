import type { Facts, FolderName, FolderNames, FolderWanted } from '../../view/app/sources.ts';
import { type Field, graphemes, inserted } from './field.ts';

/** A path up to the cursor: the folder with its slash, and the word that a name would complete. */
export function partsOf({ text, cursor }: Field): { readonly folder: string; readonly word: string } {
  const head = graphemes(text).slice(0, cursor).join('').trimStart();
  const end = head.lastIndexOf('/') + 1;
  return { folder: head.slice(0, end), word: head.slice(end) };
}

/** The names that begin with the word before the cursor; hidden ones only after a dot. */
export function candidatesOf(field: Field, names: FolderNames): readonly FolderName[] {
  const { word } = partsOf(field);
  return names.items.filter(
    ({ name }) => name.startsWith(word) && (word.startsWith('.') || !name.startsWith('.')),
  );
}

/**
 * The field with its path completed as a shell does it: to the longest beginning that all names have in
 * common, with a slash behind the only folder. Unchanged where not all names are known.
 */
export function completed(field: Field, names: FolderNames): Field {
  const { folder, word } = partsOf(field);
  if (word === '~' && folder === '') return inserted(field, '/');
  const found = candidatesOf(field, names);
  const [first] = found;
  if (first === undefined) return word === '..' && !names.isCut ? inserted(field, '/') : field;
  if (names.isCut) return field;
  const common = found.map(({ name }) => name).reduce(inCommon);
  const isWhole = found.length === 1 && first.isFolder;
  return inserted(field, common.slice(word.length) + (isWhole ? '/' : ''));
}

/** Whole code points: half of one is not text. */
function inCommon(one: string, other: string): string {
  const others = Array.from(other);
  const all = Array.from(one);
  const end = all.findIndex((character, at) => character !== others[at]);
  return end === -1 ? one : all.slice(0, end).join('');
}

/** Which names have to be known: all of the folder; where they are too many, those with this beginning. */
export function foldersFor(field: Field, facts: Facts): readonly FolderWanted[] {
  const { folder, word } = partsOf(field);
  const all = { folder, begins: '' };
  const isCut = facts.get('folder', all).last?.value.isCut === true;
  return isCut && word !== '' ? [all, { folder, begins: word }] : [all];
}

/** What is known of these names; undefined where nothing is yet. */
export function namesFor(field: Field, facts: Facts): FolderNames | undefined {
  const [all, some] = foldersFor(field, facts).map((of) => facts.get('folder', of).last?.value);
  return some ?? all;
}
