import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { bundleOf, type Evidence, makeEvidence } from './scene.ts';
import { byNode } from './verifiers.ts';

/* A bundle comes from someone else, who must not control what its verifier prints and costs. */
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
let made: Evidence;

beforeAll(async () => {
  made = await makeEvidence(join(folder, 'home'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The bundle with other files, unpacked for an auditor. */
function laidOut(name: string, change: (files: Map<string, Buffer>) => void): string {
  const files = new Map(
    [...unpackFiles(bundleOfMade).files].map(([path, bytes]) => [path, Buffer.from(bytes)]),
  );
  change(files);
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, name, path)), { recursive: true });
    writeFileSync(join(folder, name, path), bytes);
  }
  return join(folder, name);
}
let bundleOfMade: Buffer;
beforeAll(async () => {
  bundleOfMade = await bundleOf(made);
});

test('the verifier prints no control character of a bundle, wherever it is', () => {
  const odd = 'ledger/\x1b[8m\x9b2J\u202eorders\nintact.jsonl';
  const unpacked = laidOut('odd', (files) => {
    const ledger = [...files.keys()].find((name) => name.startsWith('ledger/')) ?? '';
    files.set(odd, files.get(ledger) ?? Buffer.alloc(0));
    files.delete(ledger);
    const proof = String(files.get('proof.json')).replace(JSON.stringify(ledger), JSON.stringify(odd));
    files.set('proof.json', Buffer.from(proof));
    files.set('extra\x1b]0;title\x07', Buffer.from('x'));
  });
  const { status, stdout } = byNode(unpacked);
  expect(status).toBe(1);
  expect(stdout).toContain('ledger/?[8m');
  expect(stdout).toMatch(/^[ -~\n]*$/u);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .filter((line) => line === 'intact'),
  ).toEqual([]);
});

test.each([
  ['proof.json', '[', ']'],
  ['proof.json', '{"a":', '}'],
  ['journal.jsonl', '{"a":', '}'],
])('the verifier reads no %s that is nested deeper than lifeboat writes it (%s)', (name, open, close) => {
  const unpacked = laidOut(`deep-${name}-${open.length}`, (files) => {
    const deep = `${open.repeat(300_000)}1${close.repeat(300_000)}`;
    files.set(name, Buffer.from(name.endsWith('l') ? `${deep}\n${String(files.get(name))}` : deep));
    if (name === 'journal.jsonl') {
      const proof = JSON.parse(String(files.get('proof.json')));
      proof.leaves[name].unshift(-1);
      files.set('proof.json', Buffer.from(JSON.stringify(proof)));
    }
  });
  const { status, stdout } = byNode(unpacked);
  expect(status).toBe(1);
  expect(stdout).toContain(`problem: this is not a readable bundle: ${name} is nested too deeply`);
});
