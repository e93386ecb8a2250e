import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { actingIn } from './acting.ts';
import { corpus, MARK } from './corpus.ts';
import { count } from './figures.ts';
import { jsonOf, RENDERERS, yamlOf } from './renderers.ts';

const TEXTS = corpus();

test('there are a thousand different texts that would act, hide or lie', () => {
  expect(TEXTS.length).toBeGreaterThan(1_000);
  expect(new Set(TEXTS).size).toBe(TEXTS.length);
  // Most of them would be found if they came through.
  expect(TEXTS.filter((text) => actingIn(text) !== '').length).toBeGreaterThan(800);
});

describe('a hostile text has no effect, and is shown,', () => {
  test.each(RENDERERS.map((renderer) => [renderer.name, renderer] as const))(
    'in %s',
    (_, { render, share, fields }) => {
      let drawn = 0;
      for (const text of TEXTS.filter((_text, at) => at % share === 0)) {
        const shown = render(text);
        expect(actingIn(shown), JSON.stringify(text.slice(0, 100))).toBe('');
        expect(shown.length, JSON.stringify(text.slice(0, 100))).toBeLessThan(200_000);
        if (shown.includes(MARK)) drawn += 1;
      }
      expect(drawn).toBeGreaterThan(1_200 / share);
      const tried = Math.ceil(TEXTS.length / share);
      count('texts', { renderers: 1, fields, renderings: tried * fields, 'bytes that acted': 0 });
    },
  );

  test('in JSON, which is printable ASCII and reads back as the original text', () => {
    for (const text of TEXTS) {
      const lines = jsonOf(text).split('\n');
      expect(lines.join('').search(/[^\x20-\x7e]/u), JSON.stringify(text.slice(0, 100))).toBe(-1);
      expect(JSON.parse(lines[1] ?? '')).toBe(text);
    }
  });

  test('in YAML, which is printable ASCII and reads back as the original text', () => {
    for (const text of TEXTS) {
      const yaml = yamlOf(text);
      expect(yaml.search(/[^\n\x20-\x7e]/u), JSON.stringify(text.slice(0, 100))).toBe(-1);
      expect((parse(yaml) as { text: string }).text).toBe(text);
    }
  });
});
