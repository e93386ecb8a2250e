import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type BundleFiles, unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import { VERDICT_EXIT, verdictOf } from '../../../src/audit/verdict.ts';
import { type Anchor, anchorOf } from '../../../src/store/log/anchor.ts';
import { layOut } from './scene.ts';

/*
 * The three verifiers of a bundle: `lifeboat audit verify`, the file that comes with it, and one in another
 * language's standard library.
 */

const VERIFIER = resolve('src/audit/bundle/verify.mjs');
export const PYTHON_VERIFIER = resolve('test/audit/bundle/verify.py');
export const noPython = spawnSync('python3', ['--version']).status !== 0;
if (noPython) console.warn('python3 is not here: the verifier in Python was skipped');

/** The trusted input of an auditor. */
export interface Given {
  readonly publicKey?: string;
  readonly anchors?: readonly Anchor[];
}

export interface Verifiers {
  /** The exit code of each, by name. */
  codes(tar: Buffer, given?: Given): Promise<Readonly<Record<string, number>>>;
  close(): void;
}

/** Opens them; Python's starts once, since starting it takes longer than a bundle. */
export function openVerifiers(): Verifiers {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-verifiers-'));
  const python = noPython
    ? undefined
    : spawn('python3', [PYTHON_VERIFIER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = python && createInterface(python.stdout)[Symbol.asyncIterator]();
  let count = 0;
  const write = (what: string, content: string | Buffer) => {
    const path = join(folder, `${count}.${what}`);
    writeFileSync(path, content);
    return path;
  };
  return {
    async codes(tar, given = {}) {
      count += 1;
      const anchors = (given.anchors ?? []).map(anchorOf);
      const key = given.publicKey === undefined ? [] : [write('pub', given.publicKey)];
      python?.stdin.write(`${JSON.stringify([write('tar', tar), key[0] ?? '-', ...anchors])}\n`);
      const { files, sound } = unpackFiles(tar);
      const words = [
        ...key.flatMap((file) => ['--public-key', file]),
        ...anchors.flatMap((one) => ['--anchor', one]),
      ];
      return {
        audit: byAudit(files, sound, given),
        // It takes unpacked folders: unpacking an altered tar has already shown it.
        ...(sound ? { node: byNode(layOut(files, join(folder, `${count}`)), words).status } : {}),
        ...(answers === undefined ? {} : { python: Number((await answers.next()).value) }),
      };
    },
    close() {
      python?.stdin.end();
      rmSync(folder, { recursive: true });
    },
  };
}

function byAudit(files: BundleFiles, sound: boolean, given: Given): number {
  return sound ? VERDICT_EXIT[verdictOf(verifyBundle(files, given).findings)] : VERDICT_EXIT['not-intact'];
}

/** The output of the verifier in the bundle. */
export function byNode(folder: string, words: readonly string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [VERIFIER, folder, ...words], {
    encoding: 'utf8',
  });
  if (status === null || status === 2) throw new Error(`${status}: ${stdout}${stderr}`);
  return { status, stdout };
}
