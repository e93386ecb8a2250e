import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { auditVerify } from '../../../src/audit/audit.ts';
import type { AuditReport } from '../../../src/audit/audit-report.ts';
import { refuseCutTail } from '../../../src/audit/tail.ts';
import type { Head, Journal } from '../../../src/store/journal.ts';
import { openSqliteJournal } from '../../../src/store/sqlite-journal.ts';
import type { Image } from './model.ts';
import type { Recording } from './record.ts';

/** The heads of all streams after each append: the first is that of an empty journal. */
export type Heads = readonly Head[];

/**
 * Lays an image out on a real disk, opens it as Lifeboat would, and gives every promise it breaks, in words. `acknowledged` is how
 * many lines the process had said when the image was taken: so much it had been promised.
 */
export async function judgeImage(
  image: Image,
  { home: root, states, linesPerAppend, alsoBroken }: Recording,
  acknowledged: number,
): Promise<readonly string[]> {
  return laidOut(image, root, async (home) => {
    const problems: string[] = [];
    const audit = await auditVerify({ home });
    if (!audit.ok) problems.push(`the audit finds: ${wordsOf(audit)}`);
    const opened = await openSqliteJournal({ home, by: 'tester' }).catch((error: unknown) => String(error));
    if (typeof opened === 'string') return [...problems, `it does not open: ${opened}`];
    try {
      const heads = await opened.streams();
      const state = states.findIndex((known) => sameHeads(known, heads));
      if (state < 0) problems.push(`it holds what was never written: ${spell(heads)}`);
      else if (state < acknowledged)
        problems.push(`append ${acknowledged} was acknowledged, ${state} are there`);
      else if (state > acknowledged + linesPerAppend)
        problems.push(`append ${state} is there before it was begun`);
      problems.push(...refusals(home, heads), ...(await goOn(opened)));
      problems.push(...((await alsoBroken?.(home, opened)) ?? []));
      return problems;
    } catch (error) {
      return [...problems, `it cannot be read: ${String(error)}`];
    } finally {
      await opened.close();
    }
  });
}

export interface Loss {
  /** Something that a checkpoint in the image has signed is not in its database. */
  readonly lost: boolean;
  /** The audit says that something is wrong. */
  readonly found: boolean;
  /** A run that lost something can be gone on with. */
  readonly goesOn: boolean;
}

/** The same for a disk that lied about what it had kept: what is gone has to be told by the checkpoints. */
export async function judgeLoss(image: Image, root: string): Promise<Loss> {
  return laidOut(image, root, async (home) => {
    const { ok } = await auditVerify({ home });
    const signed = signedSizes(image, root);
    const opened = await openSqliteJournal({ home, by: 'tester' }).catch(() => undefined);
    if (opened === undefined) return { lost: true, found: !ok, goesOn: false };
    try {
      const heads = await opened.streams().catch(() => []);
      const cut = [...signed].filter(
        ([stream, size]) => size > (heads.find((head) => head.stream === stream)?.seq ?? 0),
      );
      const run = await opened.head('run/a').catch(() => undefined);
      const isRunCut = cut.some(([stream]) => stream === 'run/a');
      const refused = run === undefined || refusals(home, [run]).length > 0;
      return { lost: cut.length > 0, found: !ok, goesOn: isRunCut && !refused };
    } finally {
      await opened.close();
    }
  });
}

async function laidOut<T>(image: Image, root: string, look: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-image-'));
  try {
    for (const folder of image.folders) mkdirSync(join(home, relative(root, folder)), { recursive: true });
    for (const [path, bytes] of image.files) {
      const file = join(home, relative(root, path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes, { mode: 0o600 });
    }
    return await look(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Streams that a resume would refuse. */
function refusals(home: string, heads: Heads): string[] {
  return heads.flatMap((head) => {
    try {
      refuseCutTail(home, head);
      return [];
    } catch (error) {
      return [String(error)];
    }
  });
}

/** A journal that can be read but not written is of no use to a run. */
async function goOn(journal: Journal): Promise<string[]> {
  try {
    const before = await journal.head('run/a');
    const [entry] = await journal.append([{ stream: 'run/a', type: 'note', body: 'after' }], [before]);
    const [read] = await journal.read('run/a', before.seq + 1);
    return read?.hash === entry?.hash ? [] : ['what is appended to it cannot be read back'];
  } catch (error) {
    return [`it cannot be appended to: ${String(error)}`];
  }
}

/** How far the checkpoints in an image reach, read without the product's own reader: the second line is the size. */
function signedSizes(image: Image, root: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const [path, bytes] of image.files) {
    const [, stream = ''] =
      /^checkpoints\/((?:run|instance)\/[^/]+)\/[^/]+\.note$/u.exec(relative(root, path)) ?? [];
    const [origin = '', size = ''] = bytes.toString('utf8').split('\n');
    if (stream !== '' && origin.endsWith(stream))
      sizes.set(stream, Math.max(sizes.get(stream) ?? 0, Number(size)));
  }
  return sizes;
}

function sameHeads(one: Heads, other: Heads): boolean {
  return (
    one.length === other.length &&
    one.every((head) =>
      other.some((it) => it.stream === head.stream && it.seq === head.seq && it.hash === head.hash),
    )
  );
}

function spell(heads: Heads): string {
  return heads.map(({ stream, seq }) => `${stream} ${seq}`).join(', ') || 'nothing';
}

function wordsOf({ findings }: AuditReport): string {
  return findings
    .filter(({ severity }) => severity === 'problem')
    .map(({ code, stream }) => `${code} ${stream ?? ''}`)
    .join(', ');
}
