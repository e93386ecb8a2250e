import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { leafText } from '../../../src/store/canonical.ts';
import { openSqliteForReading } from '../../../src/store/sqlite/open.ts';
import { freshSigner } from '../../store/fresh-signer.ts';
import { storedTree } from '../../store/log/naive.ts';
import { linesIn, listAnew, proveAnew, type Tools } from './attack.ts';
import { ATTACKS_ON_ENTRIES } from './attacks-on-entries.ts';
import { ATTACKS_ON_FILES } from './attacks-on-files.ts';
import { bundleOf, type Evidence, makeEvidence, OTHER, tampered } from './scene.ts';
import { type Given, openVerifiers, type Verifiers } from './verifiers.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-attacks-'));
let made: Evidence;
let tools: Tools;
let tar: Buffer;
let verifiers: Verifiers;

beforeAll(async () => {
  verifiers = openVerifiers();
  const home = join(folder, 'home');
  made = await makeEvidence(home);
  tar = await bundleOf(made);
  const other = unpackFiles(await bundleOf(made, { runId: OTHER })).files;
  const journal = await openSqliteForReading({ home, projections: [] });
  const leaves: Buffer[] = [];
  for await (const entry of journal.log.stored()) leaves.push(Buffer.from(leafText(entry)));
  await journal.close();
  tools = {
    forger: freshSigner(),
    insider: made.signer,
    other,
    node: storedTree(leaves),
    size: leaves.length,
  };
});
afterAll(() => {
  verifiers.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The trusted input of an auditor. */
const TRUSTS = ['itself', 'key', 'anchor'] as const;
type Trust = (typeof TRUSTS)[number];

function given(trust: Trust): Given {
  if (trust === 'key') return { publicKey: made.signer.publicKey };
  return trust === 'anchor' ? { anchors: [made.anchor] } : {};
}

/** The exit code of all verifiers, which must agree. */
async function codeOf(bytes: Buffer, trust: Trust): Promise<number> {
  const codes = await verifiers.codes(bytes, given(trust));
  expect(new Set(Object.values(codes)).size, `${trust}: ${JSON.stringify(codes)}`).toBe(1);
  return codes['audit'] ?? -1;
}

describe('an honest bundle', () => {
  test.each([
    ['itself', 3],
    ['key', 0],
    ['anchor', 3],
  ] as const)('is found to be honest by every verifier, given the %s: exit %d', async (trust, code) => {
    expect(await codeOf(tar, trust)).toBe(code);
  });

  test('is reproduced byte for byte', async () => {
    expect((await bundleOf(made)).equals(tar)).toBe(true);
  });
});

describe('every verifier of a bundle finds', () => {
  test.each([...ATTACKS_ON_ENTRIES, ...ATTACKS_ON_FILES])('$title', async ({ bundle: attack, foundBy }) => {
    const forged = await tampered(tar, (files) => attack(files, tools));
    expect(forged.equals(tar)).toBe(false);
    // What is found without trusted input is also found with it, so that is not tried again.
    const found: Trust[] = [];
    for (const trust of foundBy.includes('itself') ? (['itself'] as const) : TRUSTS)
      if ((await codeOf(forged, trust)) === 1) found.push(trust);
    expect(found).toEqual(foundBy);
  });
});

test('a signer of a bundle who leaves out the end of a stream is not found, and every verifier says so of every bundle', async () => {
  const forged = await tampered(tar, async (files) => {
    files.set('journal.jsonl', Buffer.from(`${linesIn(files, 'journal.jsonl').slice(0, -1).join('\n')}\n`));
    await proveAnew(files, tools, (leaves) => void leaves['journal.jsonl']?.pop());
    listAnew(files, tools.insider);
  });
  expect(await codeOf(forged, 'key')).toBe(0);
  expect(await codeOf(forged, 'anchor')).toBe(3);
});
