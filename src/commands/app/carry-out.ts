import { PassThrough } from 'node:stream';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Errand, ErrandEnd } from '../../view/app/app-port.ts';

type Beneath = (lines: string[]) => CommandContext;

/** Runs the command of the same name and returns its output. Rejects as the command does. */
export async function carryOut(beneath: Beneath, errand: Errand): Promise<ErrandEnd> {
  switch (errand.do) {
    case 'export':
      return exportBundle(beneath, errand.runId);
    case 'download':
      return download(beneath, errand);
    case 'verify':
      return verifyBackup(beneath, errand);
    case 'follow-up':
    case 'close-follow-up':
      return closeFollowUp(beneath, errand);
  }
}

const MAX_FILES = 100;

async function exportBundle(beneath: Beneath, runId: string): Promise<ErrandEnd> {
  const { auditExportCommand } = await import('../audit/export.ts');
  for (let at = 1; ; at += 1) {
    const out = `lifeboat-${runId}${at === 1 ? '' : `-${at}`}.tar`;
    const lines: string[] = [];
    try {
      await auditExportCommand(beneath(lines), [runId], { out });
      const said = lines.filter((line) => line !== out);
      const here = `to check it, here or on any machine: lifeboat audit verify ${out}`;
      const bare = `without Lifeboat: tar -xf ${out}, then node verify.mjs (Node 18 or newer)`;
      return end(`written into the current folder: ${out}`, said, [here, bare]);
    } catch (thrown) {
      const isTaken = thrown instanceof LifeboatError && thrown.code === 'usage.out';
      if (!isTaken || at >= MAX_FILES) throw thrown;
    }
  }
}

type OfBackup = Extract<Errand, { readonly do: 'download' | 'verify' }>;

async function download(beneath: Beneath, { instance, id }: OfBackup): Promise<ErrandEnd> {
  const { backupsDownload } = await import('../service/download.ts');
  const lines: string[] = [];
  await backupsDownload(beneath(lines), [String(id)], { instance });
  const [path = '', ...said] = lines;
  return end(`backup ${id} is saved, encrypted as it is: ${path}`, said);
}

const NO_RECORD =
  'this puts no proof on record: the situation "a risky change is coming" makes a backup and does';

/** Pipes the download straight into verification, without a file. */
async function verifyBackup(beneath: Beneath, { instance, id }: OfBackup): Promise<ErrandEnd> {
  const { backupsDownload } = await import('../service/download.ts');
  const { verify } = await import('../verify.ts');
  const bytes = new PassThrough();
  const lines: string[] = [];
  const into = { ...beneath([]), stdout: Object.assign(bytes, { isTTY: false, columns: 80 }) };
  const loading = backupsDownload(into, [String(id)], { instance, out: '-' }).then(
    () => void bytes.end(),
    (thrown: unknown) => {
      bytes.destroy();
      throw thrown;
    },
  );
  const from = { ...beneath(lines), stdin: bytes as unknown as CommandContext['stdin'] };
  const reading = verify(from, ['-'], { instance }).finally(() => bytes.destroy());
  const [loaded, read] = await Promise.allSettled([loading, reading]);
  // If no key opens a backup, verification ends the download: report its reason, not that of the download.
  if (read.status === 'rejected') throw loaded.status === 'rejected' ? loaded.reason : read.reason;
  if (read.value === 0 && loaded.status === 'rejected') throw loaded.reason;
  const [text = '', ...said] = lines;
  return end(`backup ${id}: ${text}`, said, [NO_RECORD]);
}

const LAST_LINES = 6;

async function closeFollowUp(
  beneath: Beneath,
  errand: Extract<Errand, { readonly do: 'follow-up' | 'close-follow-up' }>,
): Promise<ErrandEnd> {
  const { followUpsDone, followUpsRun, followUpsSkip } = await import('../followups/followups.ts');
  const lines: string[] = [];
  const context = beneath(lines);
  const { id } = errand;
  const exitCode = await (errand.do === 'follow-up'
    ? followUpsRun(context, [id], {})
    : errand.how === 'done'
      ? followUpsDone(context, [id], { proof: errand.text })
      : followUpsSkip(context, [id], { reason: errand.text }));
  const text = exitCode === 0 ? 'the follow-up is closed' : 'the follow-up may still be open';
  // A run beneath the screen prints every step; the last lines say how it ended.
  return end(text, lines.slice(-LAST_LINES));
}

/** A command beneath the screen prints its hints among its lines. */
function end(text: string, said: readonly string[], hints: readonly string[] = []): ErrandEnd {
  const printable = (lines: readonly string[]) => lines.map((line) => show(line, 1_000));
  return { text: show(text, 1_000), lines: printable(said), hints: printable(hints) };
}
