import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { noticesOf, packagesOf } from '../build/licenses.ts';

it('lists each package with bundled parts once, with the full text of its licence', () => {
  const root = mkdtempSync(join(tmpdir(), 'lifeboat-licenses-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const make = (path: string, manifest: object, files: Readonly<Record<string, string>> = {}) => {
    mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, path, 'package.json'), JSON.stringify(manifest));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, path, name), text);
  };
  make(
    'node_modules/@a/b',
    { name: '@a/b', version: '1.0.0' },
    { 'LICENSE.md': 'MIT of b', NOTICE: 'thanks' },
  );
  make('node_modules/@a/b/node_modules/c', { name: 'c', version: '2.0.0', license: 'MIT', author: 'C' });
  make('node_modules/d', { name: 'd', version: '3.0.0' });
  make('node_modules/e', { name: 'e', version: '3.0.0', license: 'ISC' });
  const inputs = [
    'src/cli.ts',
    'node_modules/@a/b/x.js',
    'node_modules/@a/b/y.js',
    'node_modules/@a/b/node_modules/c/lib/z.js',
  ];
  const notices = noticesOf(root, inputs);
  expect(notices.split('-'.repeat(80)).map((notice) => notice.trim())).toEqual([
    '@a/b 1.0.0\n\nMIT of b\n\nthanks',
    expect.stringMatching(/^c 2\.0\.0\n\nLicense: MIT\nAuthor: C\n\nPermission is hereby granted/),
  ]);
  expect(packagesOf(root, inputs)).toEqual({ '@a/b': '1.0.0', c: '2.0.0' });
  expect(() => noticesOf(root, ['node_modules/d/d.js'])).toThrow('d says nothing of its licence');
  expect(() => noticesOf(root, ['node_modules/e/e.js'])).toThrow('e has no text of its licence, ISC');
});
