import { expect, it } from 'vitest';
import { generateKey, generateSigningKey } from '../../src/keys/keyring.ts';
import { fromOneLine, inOneLine } from '../../src/keys/os-store.ts';

it('restores every text that it encoded as one line of printable ASCII', () => {
  const every = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code + 1));
  const texts = every.flatMap((one) => [one, `${one}a`, `a${one}`, `a${one}a`]);
  for (const text of [...texts, generateSigningKey().reveal(), 'lifeboat-base64:', inOneLine('a\n')]) {
    const line = inOneLine(text);
    expect(line).toMatch(/^[!-[\]-~]([ -[\]-~]*[!-[\]-~])?$/u);
    expect(fromOneLine(line)).toBe(text);
  }
});

it('leaves a suitable key unchanged, so that other programs can read it', () => {
  for (const text of [generateKey().reveal(), 'four words of a person', '#a=b;["c"]'])
    expect(inOneLine(text)).toBe(text);
});

it('keeps a text that was stored before and only looks encoded at its beginning', () => {
  for (const text of ['lifeboat-base64:', 'lifeboat-base64:not base64', 'lifeboat-base64:Zml0'])
    expect(fromOneLine(text)).toBe(text);
});
