import {
  type AuditOptions,
  type AuditReport,
  auditVerify,
  cannotRead,
  noVerdict,
} from '../../audit/audit.ts';
import { transcriptOf } from '../../audit/transcript/transcript.ts';
import type { Finding } from '../../audit/verdict.ts';
import { failureOf, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { placesHere } from '../../compose/checkpoint-places.ts';
import { openUnchecked, type StoreContext } from '../../compose/store-of.ts';
import { homeFolder } from '../../config/find.ts';
import { isPostgres } from '../../config/store-address.ts';
import { storeNamed } from '../../config/store-named.ts';
import { findRun } from '../../runner/runs.ts';
import { type JournalReader, LOG_STREAM, type StreamName } from '../../store/journal.ts';
import { lossesIn } from '../../store/log/log-entries.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { wantsPassphrase } from '../../view/app/app-port.ts';

/**
 * Audits the store of a context: its places, its transcripts, and the key of its key store if none is given.
 * A store that cannot be opened is a finding too; rejects only with config errors.
 */
export async function auditStore(
  context: StoreContext,
  options: Pick<AuditOptions, 'publicKey' | 'storedKey' | 'anchors' | 'stream' | 'onEntry'>,
): Promise<AuditReport> {
  const home = homeFolder(context.env);
  const places = await placesHere({ configPath: undefined, ...context });
  const isGiven = options.publicKey !== undefined || options.storedKey !== undefined;
  const stored = isGiven ? {} : await storedKey(context);
  const { reader, problem } = await opened(context);
  try {
    const report = await auditVerify({
      ...options,
      log: reader?.log,
      losses: (await reader?.read(LOG_STREAM).then(lossesIn, () => [])) ?? [],
      ...stored,
      places,
      isShared: isPostgres(await storeNamed(context.env, context.configPath)),
      transcriptOf: (run) => transcriptOf(home, run),
    });
    return problem === undefined
      ? report
      : { ...report, verdict: 'not-intact', findings: [problem, ...report.findings] };
  } finally {
    await reader?.close();
  }
}

/** The stream of a run; in a store too damaged to tell, of exactly that name, for the audit to report. */
export async function streamNamed(context: StoreContext, word: string): Promise<StreamName | undefined> {
  const { reader } = await opened(context);
  try {
    if (reader !== undefined) return `run/${(await findRun(reader, word)).runId}`;
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code.startsWith('run.')) throw thrown;
  } finally {
    await reader?.close();
  }
  const stream = `run/${word}`;
  return isStreamName(stream) ? stream : undefined;
}

async function opened(
  context: StoreContext,
): Promise<{ readonly reader?: JournalReader; readonly problem?: Finding }> {
  try {
    return { reader: await openUnchecked(context) };
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || !thrown.code.startsWith('journal.')) throw thrown;
    if (thrown.code === 'journal.none') return {};
    if (cannotRead(thrown)) throw noVerdict(thrown);
    return {
      problem: { severity: 'problem', code: 'store.unreadable', shortMessage: show(thrown.shortMessage) },
    };
  }
}

/** The public key of this home's key store if it opens without a prompt, or why not. Creates nothing. */
async function storedKey({
  env,
}: Pick<CommandContext, 'env'>): Promise<Pick<AuditOptions, 'storedKey' | 'storedKeyUnread'>> {
  const { missingVault } = await import('../../compose/keys-gone.ts');
  const home = homeFolder(env);
  if (missingVault(env, home) !== undefined) return {};
  try {
    const { chooseStore } = await import('../../keys/choose-store.ts');
    const { openKeyring } = await import('../../keys/keyring.ts');
    const { createSigner } = await import('../../store/log/signer.ts');
    const store = await chooseStore({ env, home, toRead: true });
    const keyring = openKeyring(store);
    if (!(await keyring.roots()).signingKey) return {};
    return { storedKey: createSigner(await keyring.signingKey()).publicKey };
  } catch (thrown) {
    const { code, shortMessage } = failureOf(thrown);
    return { storedKeyUnread: { isLocked: wantsPassphrase(code), why: shortMessage } };
  }
}
