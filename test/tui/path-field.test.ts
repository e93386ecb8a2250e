import { describe, expect, it } from 'vitest';
import { candidatesOf, completed, foldersFor, partsOf } from '../../src/tui/parts/complete-path.ts';
import { EMPTY_FIELD, type Field, fieldOf, graphemes } from '../../src/tui/parts/field.ts';
import { pathField, pathMoved, pathTyped } from '../../src/tui/parts/path-field.ts';
import type { Facts, FolderNames } from '../../src/view/app/sources.ts';

/** A text with `|` where the cursor is. */
function field(marked: string): Field {
  const [before = '', after = ''] = marked.split('|');
  return { text: before + after, cursor: graphemes(before).length };
}

/** Names, those of folders with their slash. */
function names(list: string, isCut = false): FolderNames {
  const items = list
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => ({ name: name.replace('/', ''), isFolder: name.endsWith('/') }));
  return { items, isCut };
}

function factsOf(folders: Readonly<Record<string, FolderNames>>): Facts {
  return {
    get: (_, of) => {
      const { folder, begins } = of as { readonly folder: string; readonly begins: string };
      const value = folders[folder + begins];
      return {
        part: { state: 'unasked' },
        isAsking: false,
        ...(value === undefined ? {} : { last: { at: new Date(0), value } }),
      } as never;
    },
  };
}

const PAGE = { height: 5, last: 0 };

describe('a path', () => {
  it.each<[what: string, before: string, there: string, after: string]>([
    ['the only file', '/k/ord|', 'orders.key billing.key', '/k/orders.key|'],
    ['the only folder, and its slash', '/ke|', 'keys/ etc/', '/keys/|'],
    ['a whole name that is the only folder', '/keys|', 'keys/', '/keys/|'],
    ['no more than all have in common', '/o|', 'orders.key orders-dr.key', '/orders|'],
    ['nothing where names differ at once', '/|', 'orders billing', '/|'],
    ['nothing where a file and a folder begin alike', '/key|', 'key keys/', '/key|'],
    ['nothing that is not there', '/x|', 'orders', '/x|'],
    ['no hidden name without a dot', '|', '.ssh/ orders.key', 'orders.key|'],
    ['a hidden name after a dot', '~/.s|', '.ssh/ .profile orders', '~/.ssh/|'],
    ['the home', '~|', 'orders', '~/|'],
    ['the folder above', '../..|', 'orders', '../../|'],
    ['what is before the cursor alone', '/k/or|/x', 'orders.key', '/k/orders.key|/x'],
    ['whole characters of several units', '/|', '鍵😀1 鍵😁2', '/鍵|'],
    ['a name that begins with blanks meant by nobody', ' /k|', 'keys/', ' /keys/|'],
  ])('is completed to %s: %s with %s is %s', (_, before, there, after) => {
    expect(completed(field(before), names(there))).toEqual(field(after));
  });

  it('takes a name to the character, whatever it holds', () => {
    const name = 'a\u001b[31m\u202eb';
    expect(completed(fieldOf('/a'), { items: [{ name, isFolder: false }], isCut: false }).text).toBe(
      `/${name}`,
    );
  });

  it('is not completed from some of the names alone', () => {
    expect(completed(field('/or|'), names('orders', true))).toEqual(field('/or|'));
    expect(completed(field('/..|'), names('', true))).toEqual(field('/..|'));
  });

  it('of a folder with too many names asks for those that begin as typed', () => {
    const facts = factsOf({ '/big/': names('a b', true) });
    expect(foldersFor(field('/big/|'), facts)).toEqual([{ folder: '/big/', begins: '' }]);
    expect(foldersFor(field('/big/or|'), facts)).toEqual([
      { folder: '/big/', begins: '' },
      { folder: '/big/', begins: 'or' },
    ]);
    const both = factsOf({ '/big/': names('a b', true), '/big/or': names('orders.key') });
    expect(
      pathMoved(
        { ...pathField({ source: 'secretFile' }, []), field: field('/big/or|') },
        'complete',
        both,
        PAGE,
      ).field,
    ).toEqual(field('/big/orders.key|'));
  });

  it('has a folder and a word up to the cursor', () => {
    expect(partsOf(field('/a/b|c/d'))).toEqual({ folder: '/a/', word: 'b' });
    expect(partsOf(EMPTY_FIELD)).toEqual({ folder: '', word: '' });
    expect(candidatesOf(field('.|'), names('.a b')).map(({ name }) => name)).toEqual(['.a']);
  });

  it('takes tabs that arrive in one piece as the key, and no line end of a paste', () => {
    const facts = factsOf({ '/': names('keys/') });
    const begun = pathTyped(pathField({ source: 'secretFile' }, []), '/k', facts);
    expect(pathTyped(begun, '\t\t', facts).field).toEqual(field('/keys/|'));
    expect(pathTyped(pathField({ source: 'secretFile' }, []), '/a b\r\n', facts).field).toEqual(
      field('/a b|'),
    );
  });

  it.each([
    ['/keys/orders.key|', '/keys/|'],
    ['/keys/|', '/|'],
    ['/keys/ord|ers', '/keys/|ers'],
    ['orders|', '|'],
  ])('loses its last part by the key that deletes a word: %s is %s', (before, after) => {
    const path = { ...pathField({ source: 'secretFile' }, []), field: field(before) };
    expect(pathMoved(path, 'erase-word', factsOf({}), PAGE).field).toEqual(field(after));
  });
});
