import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homeFolder, loadConfig } from '../config/load.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import type { AuditReport } from '../evidence/audit-report.ts';
import { formatTime } from '../format.ts';
import type { Entry, JournalReader } from '../journal/journal.ts';
import { openForReading } from '../journal/open-for-reading.ts';
import { findRun } from '../runner/runs.ts';
import { show } from '../text.ts';
import type { CommandContext } from './context.ts';
import { printJson } from './print-json.ts';

/** `lifeboat audit verify [RUN|FILE]`: the journal here, or an exported one. Exit 0 when nothing is wrong, 1 when something is. */
export async function auditVerifyCommand(
  context: CommandContext,
  [word]: readonly string[],
  flags: { readonly json?: boolean; readonly publicKey?: string },
): Promise<number> {
  const publicKey = flags.publicKey === undefined ? undefined : await readText(flags.publicKey);
  const report =
    word !== undefined && existsSync(word)
      ? await verifyExported(word, publicKey)
      : await verifyHome(context, word, publicKey);
  if (flags.json) printJson(context, report);
  else print(context, report);
  // Nothing to look at is not nothing found.
  return report.ok && report.streams.length > 0 ? EXIT.closed : EXIT.failed;
}

async function verifyExported(path: string, publicKey: string | undefined): Promise<AuditReport> {
  const { verifyExport } = await import('../evidence/verify-export.ts');
  const lines = (await readText(path)).split('\n').filter((line) => line !== '');
  return verifyExport(lines, publicKey);
}

async function verifyHome(
  context: CommandContext,
  word: string | undefined,
  publicKey: string | undefined,
): Promise<AuditReport> {
  const { auditVerify } = await import('../evidence/audit.ts');
  const home = homeFolder(context.env);
  const stream = word === undefined ? undefined : `run/${await runIdOrWord(home, word)}`;
  return auditVerify({
    home,
    folders: await checkpointFolders(context),
    ...(stream === undefined ? {} : { stream }),
    ...(publicKey === undefined ? {} : { publicKey }),
  });
}

function print(context: CommandContext, report: AuditReport): void {
  for (const { severity, stream: where, seq, shortMessage } of report.findings) {
    const place = [where, seq === undefined ? undefined : `entry ${seq}`]
      .filter((part) => part !== undefined)
      .join(' ');
    context.stdout.write(`${severity}: ${place === '' ? '' : `${place}: `}${shortMessage}\n`);
  }
  for (const { stream: name, entries, head, sealed } of report.streams) {
    context.stdout.write(`${name}: ${entries} entries, sealed up to ${sealed}, head ${head.slice(0, 12)}\n`);
  }
  context.stdout.write(
    `${report.entries} entries in ${report.streams.length} streams: ${verdictOf(report)}\n`,
  );
  const hint = TRUST_HINTS[report.trust];
  if (hint !== undefined) context.stderr.write(`hint: ${hint}\n`);
}

function verdictOf(report: AuditReport): string {
  if (!report.ok) return 'NOT INTACT: see the problems above';
  if (report.streams.length === 0) return 'there is nothing to verify';
  return 'nothing was changed, removed or reordered';
}

const TRUST_HINTS: Readonly<Record<AuditReport['trust'], string | undefined>> = {
  given: undefined,
  beside: 'the public key lies beside the checkpoints; name a copy from elsewhere with --public-key',
  none: 'no signature was checked; name the public key with --public-key',
};

/** `lifeboat audit show [RUN]`: one line an entry of a run or of an instance's ledger; without either, every stream. */
export async function auditShowCommand(
  context: CommandContext,
  [word]: readonly string[],
  flags: { readonly json?: boolean; readonly instance?: string },
): Promise<number> {
  const { auditShow } = await import('../evidence/audit-show.ts');
  const journal = await openForReading({ home: homeFolder(context.env) });
  try {
    const entries = await wantedEntries(journal, word, flags.instance);
    if (flags.json) {
      for (const entry of entries) printJson(context, entry);
      return EXIT.closed;
    }
    let stream = '';
    for (const line of auditShow(entries)) {
      if (line.stream !== stream) context.stdout.write(`${stream === '' ? '' : '\n'}${line.stream}\n`);
      stream = line.stream;
      context.stdout.write(
        `${String(line.seq).padStart(4)}  ${formatTime(line.at)}  ${line.by}  ${line.hash}  ${line.text}\n`,
      );
    }
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

/** `lifeboat audit export [RUN]`: JSON lines whose hashes anybody can recompute, ended by the newest signed head. */
export async function auditExportCommand(
  context: CommandContext,
  [word]: readonly string[],
): Promise<number> {
  const { auditExport } = await import('../evidence/export.ts');
  const { createSigner } = await import('../evidence/signer.ts');
  const { openKeys } = await import('./workspace.ts');
  const journal = await openForReading({ home: homeFolder(context.env) });
  try {
    const { runId } = await findRun(journal, word);
    const signer = createSigner(await (await openKeys(context)).signingKey());
    for await (const line of auditExport(journal, `run/${runId}`, { sign: (head) => signer.sign(head) })) {
      context.stdout.write(`${line}\n`);
    }
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

/** The run a word means; when the journal is too damaged to tell, the word itself, so that the audit can say what is wrong. */
async function runIdOrWord(home: string, word: string): Promise<string> {
  try {
    const journal = await openForReading({ home });
    try {
      return (await findRun(journal, word)).runId;
    } finally {
      await journal.close();
    }
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code.startsWith('run.')) throw thrown;
    return word;
  }
}

/** The config's further checkpoint folders; an audit also works where there is no config. */
async function checkpointFolders(context: CommandContext): Promise<readonly string[]> {
  try {
    return (await loadConfig(context.env, context.configPath)).checkpoints;
  } catch (thrown) {
    if (
      thrown instanceof LifeboatError &&
      thrown.code === 'config.missing' &&
      context.configPath === undefined
    )
      return [];
    throw thrown;
  }
}

/** What a reader asked for: a run, a ledger, or both; or everything. */
async function wantedEntries(
  journal: JournalReader,
  word: string | undefined,
  instance: string | undefined,
): Promise<Entry[]> {
  if (word === undefined && instance === undefined) return everything(journal);
  const run = word === undefined ? [] : await journal.read(`run/${(await findRun(journal, word)).runId}`);
  const ledger = instance === undefined ? [] : await journal.read(`instance/${instance}`);
  if (run.length === 0 && ledger.length === 0) {
    throw new LifeboatError('audit.none', `nothing is on record of instance ${show(instance ?? '', 80)}`, {
      exitCode: EXIT.usage,
    });
  }
  return [...run, ...ledger];
}

async function everything(journal: JournalReader): Promise<Entry[]> {
  const heads = await journal.streams();
  const streams = await Promise.all(heads.map(({ stream }) => journal.read(stream)));
  return streams.flat();
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new LifeboatError('input.file', `${path} cannot be read`, { cause, exitCode: EXIT.usage });
  }
}
