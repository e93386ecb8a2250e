import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { toldFindings, toldWords } from '../../audit/verdict.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isForPeople, printResult } from '../../cli/print-result.ts';
import { isTaken, notWritten, writeNewFile } from '../../cli/write-new-file.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { homeFolder } from '../../config/find.ts';
import { loadConfig } from '../../config/load.ts';
import { findRun } from '../../runner/runs.ts';
import { type JournalReader, LOG_STREAM } from '../../store/journal.ts';
import { type Anchor, parseAnchor } from '../../store/log/anchor.ts';
import { installationOf } from '../../store/log/checkpoint.ts';
import type { Signer } from '../../store/log/signer.ts';
import { createSecretGuard } from '../../store/secret-guard.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { guardSecrets, signerOf, signingKeys } from './signing.ts';

interface ExportFlags {
  readonly out?: string;
  readonly lines?: boolean;
  readonly anchor?: readonly string[];
}

/**
 * `lifeboat audit export [RUN]`: all evidence of a run, and of the runs that a plan's run started, in one
 * signed tar; with `--lines` only its journal as self-contained lines. Never overwrites a file. Signs only an
 * intact record (else `evidence.not-intact`), so a key that signs here unendorsed is not vouched for. The
 * proof shows the log at each anchor, to verify it with the bundle.
 */
export async function auditExportCommand(
  given: CommandContext,
  [word]: readonly string[],
  flags: ExportFlags,
): Promise<number> {
  const anchors = (flags.anchor ?? []).map(parseAnchor);
  const context = await whereRunIs(given, word);
  const journal = await openReaderOf(context);
  try {
    const summary = await findRun(journal, word);
    const out = flags.out ?? `lifeboat-${summary.runId}.tar`;
    if (flags.lines === true || out === '-') assertOutputForm(context);
    if (flags.lines !== true) assertOutGiven(context, out);
    await assertSound(context, summary.runId, anchors);
    const keyring = await signingKeys(context, 'this export is');
    const signer = await signerOf(keyring);
    await tellOtherKey(context, journal, signer);
    const guard = createSecretGuard();
    const config = await loadConfig(context.env, context.configPath).catch(() => undefined);
    await guardSecrets(guard, context, config, keyring);
    const { placesHere } = await import('../../compose/checkpoint-places.ts');
    const { bundlerOf } = await import('./run-bundles.ts');
    const places = await placesHere(context);
    const bundler = bundlerOf(context, journal, { signer, guard, anchors, places });
    if (flags.lines === true) {
      context.stdout.write(await bundler.lines(summary));
      return EXIT.closed;
    }
    const tar = await bundler.tar(summary);
    if (out === '-') context.stdout.write(tar);
    else write(out, tar);
    if (out !== '-') {
      const sha256 = createHash('sha256').update(tar).digest('hex');
      await printResult(
        context,
        'export',
        { runId: summary.runId, path: out, bytes: tar.length, sha256 },
        () => {
          context.stdout.write(`${show(out, 300)}\n`);
          if (!/\.tar$/iu.test(out)) context.stderr.write(TAR_HINT);
        },
      );
    }
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

/** The file gets exactly the requested name; one without `.tar` does not show what the file is. */
const TAR_HINT = 'hint: it is a tar: `lifeboat audit verify` checks it as it is, `tar -xf` unpacks it\n';

/**
 * A signature over a record that was tampered with would vouch for it: rejects with `evidence.not-intact`.
 * What limits the verdict goes to stderr.
 */
export async function assertSound(
  context: CommandContext,
  runId: string | undefined,
  anchors: readonly Anchor[],
): Promise<void> {
  const { auditStore } = await import('./audit-store.ts');
  const { verdict, findings } = await auditStore(context, { anchors });
  const limits = toldFindings(findings.filter(({ severity }) => severity === 'limit'));
  for (const limit of limits) context.stderr.write(`warning: ${toldWords(limit)}\n`);
  if (verdict !== 'not-intact') return;
  const first = findings.find(({ severity }) => severity === 'problem')?.shortMessage ?? '';
  throw new LifeboatError('evidence.not-intact', `the record is not intact, so it is not signed: ${first}`, {
    hints: [
      `\`${['lifeboat audit verify', runId ?? []].flat().join(' ')}\` says what was found`,
      `copy ${show(homeFolder(context.env), 300)} unchanged, for the investigation`,
    ],
  });
}

/** A drill's key ends with it: a later export is signed by another key than its entries. */
async function tellOtherKey(
  { stderr }: CommandContext,
  journal: JournalReader,
  signer: Signer,
): Promise<void> {
  const { hearLog, NOTHING_SAID } = await import('../../store/log/named-keys.ts');
  const { keys } = hearLog(NOTHING_SAID, await journal.read(LOG_STREAM));
  const [first] = keys.values();
  if (first === undefined || keys.has(signer.installation)) return;
  stderr.write(
    `hint: this export is signed with another key (${signer.installation}) ` +
      `than its log (${installationOf(first)}), as after a drill\n`,
  );
}

/** The evidence itself goes to standard output, and has only one format. */
function assertOutputForm(context: CommandContext): void {
  if (isForPeople(context)) return;
  throw new LifeboatError('usage.output', 'the evidence goes to standard output, in one format only', {
    hints: [`leave out -o ${context.output}, or name a file with --out FILE`],
    exitCode: EXIT.usage,
  });
}

/** Checked before anything is read: a bundle can take a while. */
function assertOutGiven({ stdout }: CommandContext, out: string): void {
  if (out === '-' && 'isTTY' in stdout && stdout.isTTY === true)
    throw new LifeboatError('usage.out', 'a bundle cannot be written to a terminal', {
      hints: ['name a file with --out FILE, or redirect the output to one'],
      exitCode: EXIT.usage,
    });
  if (out === '-' || !existsSync(out)) return;
  if (!statSync(out).isDirectory()) throw isTaken(out);
  throw new LifeboatError('usage.out', `${show(out, 200)} is a folder, and a bundle is one file`, {
    hints: ['name a file in it with --out FILE', 'nothing was written'],
    exitCode: EXIT.usage,
  });
}

function write(out: string, tar: Buffer): void {
  try {
    writeNewFile(out, tar);
  } catch (cause) {
    throw notWritten(out, cause);
  }
}
