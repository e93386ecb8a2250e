import { existsSync } from 'node:fs';
import { homeFolder, loadConfig } from '../../config/load.ts';
import { EXIT, LifeboatError } from '../../errors.ts';
import type { Keyring } from '../../keys/key-store.ts';
import { findRun, type RunSummary } from '../../runner/runs.ts';
import { Secret } from '../../secret.ts';
import type { Entry, JournalReader } from '../../store/journal.ts';
import type { Signer } from '../../store/log/signer.ts';
import { openForReading } from '../../store/open-for-reading.ts';
import { createSecretGuard, type SecretGuard } from '../../store/secret-guard.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { openKeys } from '../workspace.ts';
import { isTaken, notWritten, writeNewFile } from '../write-new-file.ts';
import { bundlePapers } from './bundle-papers.ts';
import { checkpointFolders } from './checkpoint-folders.ts';

interface ExportFlags {
  readonly out?: string;
  readonly lines?: boolean;
}

/**
 * `lifeboat audit export [RUN]`: everything that proves a run, in one signed tar; with `--lines` its journal alone, as JSON lines that are
 * ended by the newest signed head. Nothing is overwritten. What is not intact is not signed: rejects with `evidence.not-intact`. What no head has signed
 * yet is signed, and the bundle says that it was signed only now.
 */
export async function auditExportCommand(
  given: CommandContext,
  [word]: readonly string[],
  flags: ExportFlags,
): Promise<number> {
  const { createSigner } = await import('../../store/log/signer.ts');
  const context = await whereRunIs(given, word);
  const home = homeFolder(context.env);
  const journal = await openForReading({ home });
  try {
    const summary = await findRun(journal, word);
    const out = flags.out ?? `lifeboat-${summary.runId}.tar`;
    if (flags.lines !== true) refuseOut(context, out);
    const streams = [
      `run/${summary.runId}` as const,
      ...(flags.lines === true ? [] : await ledgersOf(journal, summary)).map(
        (name) => `instance/${name}` as const,
      ),
    ];
    await refuseUnsound(context, home, summary.runId, streams);
    const keyring = await keysOf(context);
    const { generateSigningKey } = await import('../../keys/keyring.ts');
    const signer = createSigner(keyring === undefined ? generateSigningKey() : await keyring.signingKey());
    await tellOtherKeys(context, home, streams, signer);
    if (flags.lines === true) return await exportLines(context, journal, summary.runId, signer);
    const tar = await bundleOf(context, journal, summary, signer, await guardOf(context, keyring));
    if (out === '-') context.stdout.write(tar);
    else write(out, tar);
    if (out !== '-') context.stdout.write(`${show(out, 300)}\n`);
    return EXIT.closed;
  } finally {
    await journal.close();
  }
}

/** The keys of this home. A record is worth most when its key store is lost, and a drill keeps none: then there are none, and it is said. */
async function keysOf(context: CommandContext): Promise<Keyring | undefined> {
  try {
    return await openKeys(context, 'check');
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'keys.gone') throw thrown;
    context.stderr.write(`warning: ${thrown.shortMessage}: this export is signed with a key of its own\n`);
    return undefined;
  }
}

/** A signature over a record that was tampered with would vouch for it. */
async function refuseUnsound(
  context: CommandContext,
  home: string,
  runId: string,
  streams: readonly string[],
): Promise<void> {
  const { auditVerify } = await import('../../audit/audit.ts');
  const folders = await checkpointFolders(context);
  for (const stream of streams) {
    const { ok, findings } = await auditVerify({ home, stream, folders });
    const first = findings.find(({ severity }) => severity === 'problem');
    if (!ok)
      throw new LifeboatError(
        'evidence.not-intact',
        `the record of run ${runId} is not intact, so it is not signed: ${stream}: ${first?.shortMessage ?? ''}`,
        {
          hints: [
            `\`lifeboat audit verify ${runId}\` says what was found`,
            `copy ${show(home, 300)} as it is for whoever looks into it`,
          ],
        },
      );
    for (const { code, shortMessage } of findings)
      if (code === 'stream.unsigned' || code === 'stream.unsealed')
        context.stderr.write(`warning: ${shortMessage}; this export signs what is there now, and says so\n`);
  }
}

/** The key of a drill is gone when it ends: what is exported later has another signature on the outside than on the inside. */
async function tellOtherKeys(
  { stderr }: CommandContext,
  home: string,
  streams: readonly string[],
  signer: Signer,
): Promise<void> {
  const { installationsOf } = await import('../../audit/signed-head.ts');
  const others = [...installationsOf(home, streams)].filter((one) => one !== signer.installation);
  if (others.length === 0) return;
  stderr.write(
    `hint: the run was signed with another key than the one that signs this export, as after a drill: ${others.join(', ')}\n`,
  );
  stderr.write(
    `hint: who verifies it needs all ${others.length + 1}: lifeboat.pub in the bundle has them, one below the other; compare each\n`,
  );
}

async function exportLines(
  context: CommandContext,
  journal: JournalReader,
  runId: string,
  signer: Signer,
): Promise<number> {
  const { auditExport } = await import('../../audit/export.ts');
  for await (const line of auditExport(journal, `run/${runId}`, { sign: signer.sign }))
    context.stdout.write(`${line}\n`);
  return EXIT.closed;
}

async function bundleOf(
  context: CommandContext,
  journal: JournalReader,
  summary: RunSummary,
  signer: Signer,
  guard: SecretGuard,
): Promise<Buffer> {
  const { makeBundle } = await import('../../audit/bundle/make-bundle.ts');
  const home = homeFolder(context.env);
  const entries = await journal.read(`run/${summary.runId}`);
  return makeBundle({
    journal,
    home,
    runId: summary.runId,
    instances: await ledgersOf(journal, summary),
    signer,
    papers: await bundlePapers(context, journal, home, summary, entries),
    madeAt: new Date(),
    madeBy: `lifeboat ${context.version}`,
    guard,
  });
}

/** The instances of the run, and every other one whose ledger quotes it. */
async function ledgersOf(
  journal: JournalReader,
  { runId, instance, target }: RunSummary,
): Promise<readonly string[]> {
  const heads = await journal.streams('instance/');
  const quoting = await Promise.all(
    heads.map(async ({ stream }) =>
      (await journal.read(stream)).some((entry) => quotes(entry, runId)) ? [stream] : [],
    ),
  );
  const names = quoting.flat().map((stream) => stream.slice('instance/'.length));
  return [...new Set([instance, target ?? instance, ...names])];
}

function quotes({ body }: Entry, runId: string): boolean {
  return typeof body === 'object' && body !== null && 'run' in body && body['run'] === runId;
}

/** Every secret of this home that could have got somewhere: the keys in the store, the installation's own, the tokens in the environment. */
async function guardOf(context: CommandContext, keyring: Keyring | undefined): Promise<SecretGuard> {
  const { tokenVariables } = await import('../../config/load.ts');
  const guard = createSecretGuard();
  for (const account of (await keyring?.store.accounts()) ?? []) {
    const secret = await keyring?.store.get(account);
    if (secret !== undefined) guard.add(secret);
  }
  const config = await loadConfig(context.env, context.configPath).catch(() => undefined);
  for (const name of config === undefined ? [] : tokenVariables(config)) {
    const text = context.env[name];
    if (text !== undefined) guard.add(new Secret(text));
  }
  return guard;
}

/** Said before anything is read: a bundle can take a while. */
function refuseOut({ stdout }: CommandContext, out: string): void {
  if (out === '-' && 'isTTY' in stdout && stdout.isTTY === true)
    throw new LifeboatError('usage.out', 'a bundle is not for a terminal', {
      hints: ['name a file with --out FILE, or lead the output into one'],
      exitCode: EXIT.usage,
    });
  if (out !== '-' && existsSync(out)) throw isTaken(out);
}

function write(out: string, tar: Buffer): void {
  try {
    writeNewFile(out, tar);
  } catch (cause) {
    throw notWritten(out, cause);
  }
}
