import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type Manifest, withManifest } from '../../src/audit/bundle/manifest.ts';
import { packFiles } from '../../src/audit/bundle/tar.ts';
import { entryLine, headLine } from '../../src/audit/export.ts';
import { auditVerifyCommand } from '../../src/commands/audit/verify.ts';
import { printError } from '../../src/commands/print-error.ts';
import { canonicalBody } from '../../src/store/canonical.ts';
import { hashEntry } from '../../src/store/chain.ts';
import { type Entry, type Json, type StreamName, ZERO_HASH } from '../../src/store/journal.ts';
import { freshSigner } from '../audit/signing.ts';
import { actingIn } from './acting.ts';
import { corpus, MARK } from './corpus.ts';
import { count } from './figures.ts';

/*
 * A bundle that somebody has made from beginning to end, with a key of his own, for the terminal of the one who verifies it.
 */

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
const TEXTS = corpus().filter((text) => text.length < 5_000);
/** So many texts stand in one bundle. */
const SHARE = 60;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BATCHES = Array.from({ length: Math.ceil(TEXTS.length / SHARE) }, (_, at) =>
  TEXTS.slice(at * SHARE, (at + 1) * SHARE),
);

/** Files of a bundle that says a text wherever it can say one, every hash and signature as it should be. */
function bundleOf(texts: readonly string[]): Map<string, Buffer> {
  const signer = freshSigner();
  const stream = 'run/01K0000000000000000000000A' as const;
  const entries = texts.flatMap((text) => [
    { type: text, body: { [text]: text, list: [text] } },
    {
      type: 'approval.asked',
      body: {
        challenge: text,
        text,
        target: text,
        order: text,
        plan: text,
        requester: text,
        expiresAt: text,
      },
    },
    { type: 'transcript.kept', body: { lines: 1, bytes: 9, sha256: text } },
  ]);
  const files = new Map<string, Buffer>();
  files.set('journal.jsonl', journalOf(stream, entries, texts, signer.sign));
  for (const [at, text] of texts.entries()) {
    files.set(`ledger/${at}.jsonl`, journalOf(text as StreamName, entries.slice(0, 1), [text], signer.sign));
    files.set(`checkpoints/instance/${at}/${text}.note`, Buffer.from(signer.note(`x/${at}`, [text])));
    files.set(`checkpoints/${text}`, Buffer.from(`${text}\n\n— ${text} ${text}\n`));
    files.set(`approvals/${at}.1.sig`, Buffer.from(text));
    files.set(`approvals/${at}.1.signer`, Buffer.from(`${text} ${text} ${text}\n`));
    files.set(`approvals/${at}.txt`, Buffer.from(text));
    files.set(text, Buffer.from(text));
  }
  files.set('README.txt', Buffer.from(texts.join('\n')));
  files.set('lifeboat.pub', Buffer.from(signer.publicKey));
  const about: Omit<Manifest, 'format' | 'files'> = {
    run: stream.slice('run/'.length),
    head: { seq: 1, hash: ZERO_HASH },
    anchor: texts[0] ?? '',
    madeAt: texts[1] ?? '',
    madeBy: texts[2] ?? '',
  };
  const listed = withManifest(files, about, signer.note);
  // What is listed and not there is said by its name.
  return new Map([...listed].filter(([name], at) => at % 3 !== 0 || /^manifest|\.pub$|jsonl$/u.test(name)));
}

function journalOf(
  stream: StreamName,
  steps: readonly { readonly type: string; readonly body: Json }[],
  texts: readonly string[],
  sign: ReturnType<typeof freshSigner>['sign'],
): Buffer {
  let prev = ZERO_HASH;
  const entries = steps.map(({ type, body }, at): Entry => {
    const row = { stream, seq: at + 1, at: texts[at % texts.length] ?? '', by: texts[0] ?? '', type, prev };
    const hash = hashEntry({ ...row, body: canonicalBody(body, 'the body') });
    prev = hash;
    return { ...row, body, hash };
  });
  const head = { stream, seq: entries.length, hash: prev };
  return Buffer.from(`${[...entries.map(entryLine), headLine(head, sign(head))].join('\n')}\n`);
}

async function verified(path: string, flags: { readonly json?: boolean } = {}) {
  let said = '';
  const stream = { write: (text: string) => (said += text) };
  const context = { stdout: stream, stderr: stream, env: {} };
  const code = await auditVerifyCommand(context as never, [path], flags);
  return { code, said };
}

function verifiedAlone(place: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [VERIFIER, place], { encoding: 'utf8' });
  return { code: status, said: stdout + stderr };
}

/** A name that a file system takes. */
function fileName(text: string): string {
  const name = text.replace(/[/\0]/gu, '_').toWellFormed();
  return Buffer.from(name).subarray(0, 200).toString('utf8').replaceAll('\ufffd', '') || '_';
}

describe('a bundle in which every name and every word is hostile', () => {
  test('acts in no line of `audit verify` and of its own verifier, packed or not', {
    timeout: 120_000,
  }, async () => {
    let named = 0;
    for (const [at, texts] of BATCHES.entries()) {
      const files = bundleOf(texts);
      const tar = join(folder, `${at}.tar`);
      writeFileSync(tar, await packFiles(files));
      const place = join(folder, `${at}`);
      for (const [name, bytes] of files) {
        const parts =
          name.startsWith('checkpoints/') || name.startsWith('approvals/') ? name.split('/') : [name];
        const path = join(place, ...parts.map(fileName).map((part) => (/^\.\.?$/u.test(part) ? '_' : part)));
        mkdirSync(join(path, '..'), { recursive: true });
        try {
          writeFileSync(path, bytes);
        } catch {
          // A folder has this name already.
        }
      }
      for (const path of [tar, place]) {
        const alone = path === place ? [verifiedAlone(place)] : [];
        for (const { code, said } of [await verified(path), ...alone]) {
          expect(code, said.slice(0, 500)).toBe(1);
          expect(actingIn(said)).toBe('');
          expect(said).toContain('NOT INTACT');
          named += said.split(MARK).length - 1;
        }
        const { said } = await verified(path, { json: true });
        expect(said.search(/[^\n\x20-\x7e]/u)).toBe(-1);
        JSON.parse(said);
      }
      count('texts', { 'texts in bundles': texts.length, renderings: texts.length * 8 * 5 });
    }
    // They are among what is said: it is not that nothing was looked at.
    expect(named).toBeGreaterThan(TEXTS.length);
  });

  test('has an anchor that is refused in harmless words', async () => {
    const path = join(folder, '0.tar');
    for (const text of TEXTS) {
      let said = '';
      const stream = { write: (words: string) => (said += words) };
      const context = { stdout: stream, stderr: stream, env: {} };
      const refused = auditVerifyCommand(context as never, [path], { anchor: text });
      printError(await refused.catch((thrown: unknown) => thrown), stream as never);
      expect(said).toContain('this is not an anchor');
      expect(actingIn(said)).toBe('');
    }
    count('texts', { renderings: TEXTS.length });
  });

  test('gets no word of an anchor or a path into the terminal by its own verifier', () => {
    for (const text of TEXTS.filter((_, at) => at % 40 === 0)) {
      const word = text.replaceAll('\0', '');
      for (const words of [
        [VERIFIER, join(folder, '0'), '--anchor', word],
        [VERIFIER, `-${word}`],
      ]) {
        const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
        expect([1, 2]).toContain(status);
        expect(actingIn(stdout + stderr)).toBe('');
      }
    }
  });
});
