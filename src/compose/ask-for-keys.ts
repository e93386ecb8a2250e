import type { Runbook } from '../../machines/parts/runbook.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import { askHidden } from '../cli/hidden-prompt.ts';
import type { EscrowConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import { canAsk } from '../plain/terminal.ts';
import { fold } from '../runner/fold.ts';
import { inputOf } from '../runner/run-log.ts';
import type { Entry, Journal } from '../store/journal.ts';
import { adoptKey } from './adopt-key.ts';
import type { DrivenRun } from './instances.ts';

interface KeySources {
  readonly journal: Pick<Journal, 'guard' | 'read'>;
  readonly keyring: Keyring;
  readonly escrow?: EscrowConfig | undefined;
}

/** Fingerprints of the keys entered for a run, and of those it goes on without. */
export interface KeysAsked {
  readonly entered?: readonly string[];
  readonly without?: readonly string[];
}

/**
 * Asks for each key that the run still needs and this key store lacks (the run may have begun with another),
 * before anything is written or sent. An empty line goes on without: each step that needs the key then fails
 * and sends nothing. Rejects with `keys.lacking` (exit 3) without a prompt, `keys.other` for another key.
 */
export async function askForKeys(
  context: CommandContext,
  { journal, keyring, escrow }: KeySources,
  run: DrivenRun,
  runbook: Runbook,
  entries: readonly Entry[],
): Promise<KeysAsked> {
  const { snapshot } = fold(runbook, inputOf(entries) ?? {}, entries);
  const needed = snapshot.status === 'done' ? [] : (runbook.keys?.(snapshot.context as never) ?? []);
  if (needed.length === 0) return {};
  const held = new Set(await keyring.list(run.instance));
  const missing = needed.filter((fingerprint) => !held.has(fingerprint));
  const fromEscrow = await takeFromEscrow(context, { journal, keyring, escrow }, run.instance, missing);
  const lacking = missing.filter((fingerprint) => !fromEscrow.has(fingerprint));
  if (lacking.length === 0) return {};
  if (!canAsk(context)) throw lackingError(run, lacking, keyring.store.description);
  const entered: string[] = [];
  for (const fingerprint of lacking) {
    context.stderr.write(
      `run ${show(run.runId)} needs key ${fingerprint} of ${show(run.instance)}, ` +
        `which is not in ${keyring.store.description}\n`,
    );
    const prompt = `key ${fingerprint} of ${show(run.instance)} (empty: go on without it)`;
    const key = await askHidden(prompt, context).catch((thrown: unknown) => {
      throw inputLeft(thrown, run.runId, fingerprint);
    });
    if (key.length === 0) continue;
    journal.guard(key);
    await adoptKey({ journal, keyring }, run.instance, fingerprint, key);
    entered.push(fingerprint);
  }
  const without = lacking.filter((fingerprint) => !entered.includes(fingerprint));
  return { ...(entered.length > 0 && { entered }), ...(without.length > 0 && { without }) };
}

/** Opens sealed copies with this person's own identity. Errors of escrow do not stop the run: it asks. */
async function takeFromEscrow(
  context: CommandContext,
  { journal, keyring, escrow }: KeySources,
  instance: string,
  missing: readonly string[],
): Promise<ReadonlySet<string>> {
  if (missing.length === 0 || escrow === undefined) return new Set();
  const { identityIn } = await import('../keys/identity.ts');
  const { copiesIn, openCopies } = await import('./escrow.ts');
  const own = await identityIn(keyring.store);
  if (own === undefined) return new Set();
  const { copies } = await copiesIn(escrow.places, journal, [instance]);
  const wanted = copies.filter(({ copy }) => missing.includes(copy.fingerprint));
  const guard = (secret: Secret) => journal.guard(secret);
  const { opened, failed } = await openCopies(wanted, [own.identity], { keyring, guard });
  for (const { fingerprint, place } of opened)
    context.stderr.write(
      `key ${fingerprint} of ${show(instance)} was taken from escrow (${show(place, 200)})\n`,
    );
  for (const { place, why } of failed)
    context.stderr.write(`warning: a sealed copy in ${show(place, 200)} was not opened: ${show(why, 300)}\n`);
  return new Set(opened.map(({ fingerprint }) => fingerprint));
}

/** The prompt was on the screen that the run has taken over, so the error repeats what it asked for. */
function inputLeft(thrown: unknown, runId: string, fingerprint: string): unknown {
  if (!(thrown instanceof LifeboatError) || thrown.code !== 'input.left') return thrown;
  return new LifeboatError('input.left', `key ${fingerprint} was not entered`, {
    hints: ['nothing was sent: the run is unchanged', `resume it: lifeboat resume ${runId}`],
    exitCode: EXIT.interrupted,
    cause: thrown.cause,
  });
}

function lackingError(run: DrivenRun, lacking: readonly string[], store: string): LifeboatError {
  return new LifeboatError(
    'keys.lacking',
    `run ${run.runId} needs a key of ${run.instance} that ${store} does not hold: ${lacking.join(', ')}`,
    {
      hints: [
        'nothing was sent: the run is unchanged',
        ...lacking.map(
          (fingerprint) => `store it: lifeboat keys add ${run.instance} --as ${fingerprint} --file FILE`,
        ),
        `or resume in a terminal, which asks for it: lifeboat resume ${run.runId}`,
      ],
      evidence: { run: run.runId, keys: [...lacking] },
      exitCode: EXIT.waiting,
    },
  );
}
