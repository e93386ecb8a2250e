import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditVerify } from '../../../src/audit/audit.ts';
import { unpackFiles } from '../../../src/audit/bundle/tar.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import { anchorOf, parseAnchor } from '../../../src/store/log/anchor.ts';
import { openForReading } from '../../../src/store/open-for-reading.ts';
import { freshSigner } from '../signing.ts';
import type { Tools } from './attack.ts';
import { ATTACKS_ON_ENTRIES } from './attacks-on-entries.ts';
import { ATTACKS_ON_FILES } from './attacks-on-files.ts';
import { forgeHome, rechained } from './forging.ts';
import { bundleOf, ENTRIES, type Evidence, layOut, makeEvidence, OTHER, RUN, tampered } from './scene.ts';

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
const ATTACKS = [...ATTACKS_ON_ENTRIES, ...ATTACKS_ON_FILES];
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-attacks-'));
const keyFile = join(folder, 'known.pub');
let made: Evidence;
let tools: Tools;
let tar: Buffer;
let anchor: string;
let copies = 0;

beforeAll(async () => {
  const [home, yesterday] = [join(folder, 'home'), join(folder, 'yesterday')];
  made = await makeEvidence(home, () => cpSync(home, yesterday, { recursive: true }));
  const { files } = await unpackFiles(await bundleOf(made, OTHER));
  tools = { forger: freshSigner(), insider: made.signer, other: files, yesterday };
  tar = await bundleOf(made);
  const journal = await openForReading({ home });
  anchor = anchorOf(await journal.head(`run/${RUN}`));
  await journal.close();
  writeFileSync(keyFile, made.signer.publicKey);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fresh(what: string): string {
  copies += 1;
  return join(folder, `${copies}.${what}`);
}

/** What an auditor has got from elsewhere. */
const TRUSTS = ['itself', 'key', 'anchor'] as const;
type Trust = (typeof TRUSTS)[number];

async function findsInHome(home: string, trust: Trust): Promise<boolean> {
  const { ok } = await auditVerify({
    home,
    ...(trust === 'key' ? { publicKey: made.signer.publicKey } : {}),
    ...(trust === 'anchor' ? { anchors: [parseAnchor(anchor)] } : {}),
  });
  return !ok;
}

async function findsInBundle(bytes: Buffer, trust: Trust): Promise<boolean> {
  const { files, sound } = await unpackFiles(bytes);
  const { ok } = verifyBundle(files, {
    publicKey: trust === 'key' ? made.signer.publicKey : undefined,
    anchors: trust === 'anchor' ? [parseAnchor(anchor)] : undefined,
  });
  return !sound || !ok;
}

async function findsAlone(bytes: Buffer, trust: Trust): Promise<boolean> {
  const place = layOut((await unpackFiles(bytes)).files, fresh('folder'));
  const words = { itself: [], key: ['--public-key', keyFile], anchor: ['--anchor', anchor] }[trust];
  const { status, stdout, stderr } = spawnSync(process.execPath, [VERIFIER, place, ...words], {
    encoding: 'utf8',
  });
  rmSync(place, { recursive: true });
  if (status !== 0 && status !== 1) throw new Error(`${status}: ${stdout}${stderr}`);
  return status === 1;
}

/** Who finds it. What is found without help is found with it, so that is not tried again. */
async function finders(
  foundBy: readonly Trust[],
  finds: (trust: Trust) => boolean | Promise<boolean>,
): Promise<Trust[]> {
  const found: Trust[] = [];
  for (const trust of foundBy.includes('itself') ? (['itself'] as const) : TRUSTS)
    if (await finds(trust)) found.push(trust);
  return found;
}

describe('an honest record', () => {
  test.each(TRUSTS)('is found to be so, by every verifier, given the %s', async (trust) => {
    expect(await findsInHome(made.home, trust)).toBe(false);
    expect(await findsInBundle(tar, trust)).toBe(false);
    expect(await findsAlone(tar, trust)).toBe(false);
  });

  test('is made into the same bundle, byte for byte', async () => {
    expect((await bundleOf(made)).equals(tar)).toBe(true);
  });
});

describe('audit verify of a home finds', () => {
  test.each(ATTACKS.filter(({ home }) => home !== undefined))('$title', async ({ home: attack, foundBy }) => {
    const home = fresh('home');
    cpSync(made.home, home, { recursive: true });
    await attack?.(home, tools);
    expect(await finders(foundBy, (trust) => findsInHome(home, trust))).toEqual(foundBy);
    rmSync(home, { recursive: true });
  });
});

test('an entry behind the last signed head shows in how far the stream is sealed', async () => {
  const home = fresh('home');
  cpSync(made.home, home, { recursive: true });
  forgeHome(home, (rows) => rechained([...rows, ...rows.slice(-1)]));
  const { streams } = await auditVerify({ home, stream: `run/${RUN}` });
  expect(streams).toMatchObject([{ entries: ENTRIES + 1, sealed: ENTRIES }]);
});

describe('both verifiers of a bundle find', () => {
  test.each(ATTACKS.filter(({ bundle }) => bundle !== undefined))(
    '$title',
    async ({ bundle: attack, foundBy }) => {
      const forged = await tampered(tar, (files) => attack?.(files, tools));
      expect(await finders(foundBy, (trust) => findsInBundle(forged, trust))).toEqual(foundBy);
      expect(await finders(foundBy, (trust) => findsAlone(forged, trust))).toEqual(foundBy);
    },
  );

  test.each(ATTACKS.filter(({ home, foundBy }) => home !== undefined && !foundBy.includes('itself')))(
    'in the bundle of a home with it: $title',
    async ({ title, home: attack, foundBy }) => {
      const home = fresh('home');
      cpSync(made.home, home, { recursive: true });
      await attack?.(home, tools);
      const signer = title.includes('another key') ? tools.forger : made.signer;
      const forged = await bundleOf({ home, signer });
      expect(await finders(foundBy, (trust) => findsInBundle(forged, trust))).toEqual(foundBy);
      expect(await finders(foundBy, (trust) => findsAlone(forged, trust))).toEqual(foundBy);
    },
  );
});
