import { describe, expect, it } from 'vitest';
import { type Field, graphemes } from '../../src/tui/parts/field.ts';
import { pathField, pathMoved, pathTyped } from '../../src/tui/parts/path-field.ts';

/** A text with `|` where the cursor is. */
function field(marked: string): Field {
  const [before = '', after = ''] = marked.split('|');
  return { text: before + after, cursor: graphemes(before).length };
}

describe('a path', () => {
  it('drops the line end of a paste', () => {
    expect(pathTyped(pathField({ source: 'secretFile' }, []), '/a b\r\n').field).toEqual(field('/a b|'));
  });

  it.each([
    ['/keys/orders.key|', '/keys/|'],
    ['/keys/|', '/|'],
    ['/keys/ord|ers', '/keys/|ers'],
    ['orders|', '|'],
  ])('loses its last part with the key that deletes a word: %s becomes %s', (before, after) => {
    const path = { ...pathField({ source: 'secretFile' }, []), field: field(before) };
    expect(pathMoved(path, 'erase-word').field).toEqual(field(after));
  });
});
