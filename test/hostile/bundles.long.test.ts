import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type BundleFiles, packFiles } from '../../src/audit/bundle/pack.ts';
import { printError } from '../../src/cli/print-error.ts';
import { auditVerifyCommand } from '../../src/commands/audit/verify.ts';
import { canonicalBody, leafText } from '../../src/store/canonical.ts';
import type { Json } from '../../src/store/journal.ts';
import { listAnew, makeAnew } from '../audit/bundle/attack.ts';
import { RUN } from '../audit/bundle/scene.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { actingIn } from './acting.ts';
import { corpus, MARK } from './corpus.ts';
import { count } from './figures.ts';

/*
 * A bundle that an attacker has made from beginning to end, with a key of their own, for the terminal of the
 * one who verifies it.
 */

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
const TEXTS = corpus().filter((text) => text.length < 5_000);
/** How many texts stand in one bundle. */
const SHARE = 60;
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BATCHES = Array.from({ length: Math.ceil(TEXTS.length / SHARE) }, (_, at) =>
  TEXTS.slice(at * SHARE, (at + 1) * SHARE),
);

/** Files of a bundle that says a text wherever it can say one, every hash and signature as it should be. */
async function bundleOf(texts: readonly string[]): Promise<BundleFiles> {
  const signer = freshSigner();
  const steps = texts.flatMap((text) => [
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
  const origin = 'lifeboat/0123456789abcdef';
  const begun = { type: 'log.begun', body: { format: 1, origin, publicKey: signer.publicKey } };
  files.set('log.jsonl', linesOf('store/log', [begun, ...steps.slice(0, 3)], texts));
  files.set('journal.jsonl', linesOf(`run/${RUN}`, steps, texts));
  files.set('ledger/orders.jsonl', linesOf(texts[0] ?? '', steps.slice(0, 1), texts));
  files.set('checkpoint.note', Buffer.from(`${origin}\n`));
  files.set('proof.json', Buffer.from('{"sizes":[]}'));
  const word = (at: number) => (texts[at] ?? '').replaceAll(/[\0-\x1f]/gu, '_').toWellFormed();
  const made = `made ${word(1)} by ${word(2)}`;
  files.set('manifest.note', Buffer.from(`lifeboat.bundle/1\nrun ${RUN}\n${made}\n`));
  await makeAnew(files, signer, 1);
  for (const [at, text] of texts.entries()) {
    files.set(`ledger/${at}.jsonl`, linesOf(text, steps.slice(0, 1), [text]));
    files.set(`checkpoints/${at}`, Buffer.from(signer.note(`${origin}\n1\n${word(at)}\n`, origin)));
    files.set(`checkpoints/${text}`, Buffer.from(`${text}\n\n— ${text} ${text}\n`));
    files.set(`approvals/${at}.1.sig`, Buffer.from(text));
    files.set(`approvals/${at}.1.signer`, Buffer.from(`${text} ${text} ${text}\n`));
    files.set(`approvals/${at}.txt`, Buffer.from(text));
    files.set(text, Buffer.from(text));
  }
  files.set('README.txt', Buffer.from(texts.join('\n')));
  listAnew(files, signer);
  // What is listed and not there is said by its name.
  const isKept = /^(?:manifest\.note|SHA256SUMS|proof\.json|checkpoint\.note)$|\.pub$|jsonl$/u;
  return new Map([...files].filter(([name], at) => at % 3 !== 0 || isKept.test(name)));
}

function linesOf(
  stream: string,
  steps: readonly { readonly type: string; readonly body: Json }[],
  texts: readonly string[],
): Buffer {
  const by = texts[0] ?? '';
  const lines = steps.map(({ type, body }, at) =>
    leafText({
      stream,
      seq: at + 1,
      at: texts[at % texts.length] ?? '',
      by,
      type,
      body: canonicalBody(body, 'it'),
    }),
  );
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** As far as a tar has names for them. */
function packed(files: BundleFiles): Buffer {
  return packFiles(
    new Map([...files].filter(([name]) => Buffer.byteLength(name) < 100 && !name.includes('\0'))),
  );
}

async function verified(path: string, output: 'table' | 'json' = 'table') {
  let said = '';
  const stream = { write: (text: string) => (said += text) };
  const context = { stdout: stream, stderr: stream, env: {}, output };
  const code = await auditVerifyCommand(context as never, [path], {});
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
  test('has no effect in any line of `audit verify` and of its own verifier, packed or not', {
    timeout: 1_200_000,
  }, async () => {
    let named = 0;
    for (const [at, texts] of BATCHES.entries()) {
      const files = await bundleOf(texts);
      const tar = join(folder, `${at}.tar`);
      writeFileSync(tar, packed(files));
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
        const { said } = await verified(path, 'json');
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

  test('prints nothing of an anchor or a path to the terminal through its own verifier', () => {
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
