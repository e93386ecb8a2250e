import { spawn } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { LOCKED_KEY } from '../../audit/believed-keys.ts';
import type { Finding, Verdict } from '../../audit/verdict.ts';
import { LifeboatError } from '../../base/errors.ts';
import { ownProgram } from '../../base/own-program.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { asksPassphrase } from '../../cli/early-frame.ts';
import { missingVault } from '../../compose/keys-gone.ts';
import { homeFolder } from '../../config/find.ts';
import { createSigner } from '../../store/log/signer.ts';
import type { AuditFacts, AuditTrust } from '../../view/app/sources.ts';
import { pathOf } from './check-file.ts';
import { keptKeyring } from './load-keys.ts';

/** Verifies the journal in a separate process: a long log and a vault would block the thread that draws. */
export async function loadAudit(
  context: CommandContext,
  { publicKey, anchor }: AuditTrust,
  signal: AbortSignal,
): Promise<AuditFacts> {
  const { env, configPath } = context;
  const stored = publicKey === undefined ? await keyOfVault(context) : undefined;
  const [program = process.execPath, ...words] = ownProgram();
  const config = configPath === undefined ? [] : ['--config', configPath];
  const trust = [
    ...(publicKey === undefined ? [] : [`--public-key=${pathOf(env, publicKey)}`]),
    ...(anchor === undefined ? [] : [`--anchor=${anchor}`]),
    ...(stored === undefined ? [] : [`--stored-key=${stored}`]),
  ];
  const child = spawn(program, [...words, 'audit', 'verify', '-o', 'json', ...config, ...trust], {
    env,
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  const [exitCode, printed, said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return auditFactsIn(printed, said, exitCode);
}

/**
 * The public key of a vault whose passphrase is typed by hand: the verifying process cannot prompt. DER in
 * base64. Undefined if it cannot be opened: the command names the cause.
 */
async function keyOfVault(context: CommandContext): Promise<string | undefined> {
  const { env } = context;
  if (!asksPassphrase(env) || missingVault(env, homeFolder(env)) !== undefined) return undefined;
  try {
    const keyring = await keptKeyring(context);
    if (!(await keyring.roots()).signingKey) return undefined;
    const key = createPublicKey(createSigner(await keyring.signingKey()).publicKey);
    return key.export({ type: 'spki', format: 'der' }).toString('base64');
  } catch {
    return undefined;
  }
}

/** Parses both streams of the command. Throws its error if nothing was verified. */
export function auditFactsIn(printed: string, said: string, exitCode: number): AuditFacts {
  try {
    const { verdict, words, entries, findings } = JSON.parse(printed) as {
      readonly verdict: Verdict;
      readonly words: string;
      readonly entries: number;
      readonly findings: readonly Finding[];
    };
    const isLocked = findings.some(({ code }) => code === LOCKED_KEY);
    return { verdict, words, exitCode, entries, findings: findings.map(inWords), isLocked };
  } catch (cause) {
    const { message, hints } = errorIn(said, exitCode);
    throw new LifeboatError('audit.failed', message, { hints, cause });
  }
}

function inWords({ severity, stream, seq, shortMessage }: Finding): AuditFacts['findings'][number] {
  const place = [stream, seq === undefined ? undefined : `entry ${seq}`].filter((part) => part !== undefined);
  return {
    severity,
    text: show(place.length === 0 ? shortMessage : `${place.join(' ')}: ${shortMessage}`, 600),
  };
}

/** The error that the command printed as JSON, or one saying that it printed none. */
function errorIn(said: string, exitCode: number) {
  for (const line of said.split('\n').toReversed()) {
    try {
      const { message, hints } = JSON.parse(line) as { readonly message?: unknown; readonly hints?: unknown };
      const all = Array.isArray(hints) ? hints.filter((hint) => typeof hint === 'string') : [];
      if (typeof message === 'string')
        return { message: show(message), hints: all.map((hint) => show(hint)) };
    } catch {
      // Lines beside the result need not be JSON.
    }
  }
  return {
    message: `the command ended with exit code ${exitCode}`,
    hints: ['try it on the command line: lifeboat audit verify'],
  };
}
