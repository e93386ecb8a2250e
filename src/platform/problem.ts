import type { PlatformProof } from '../../machines/parts/recovery-data.ts';
import { EXIT, LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import { redact } from '../base/redact.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';

export interface PlatformWords {
  readonly code?: number | null | undefined;
  readonly title?: string | null | undefined;
  readonly detail?: string | null | undefined;
}

export interface ProblemContext {
  /** Blanked wherever the platform echoes them. */
  readonly secrets?: readonly Secret[];
  readonly retryAfter?: string | undefined;
}

const WORDS_LIMIT = 300;

/** The error for an error status. The platform's words become evidence, cleaned and limited. */
export function refusalOf(
  status: number,
  errors: readonly PlatformWords[],
  { secrets = [], retryAfter }: ProblemContext = {},
): LifeboatError {
  const words = wordsOf(errors, secrets);
  const [code, sentence, ...hints] = rowOf(status);
  const wait =
    retryAfter === undefined ? [] : [`the platform says to wait: Retry-After ${show(retryAfter, 60)}`];
  const options: LifeboatErrorOptions = {
    hints: [...wait, ...hints],
    evidence: { status, ...(words === '' ? {} : { words }) },
    ...(status === 401 ? { exitCode: EXIT.credentials } : {}),
  };
  return new LifeboatError(code, `${sentence} (${status})${words === '' ? '' : `: "${words}"`}`, options);
}

/** The platform's message, as one line that is safe to show. */
export function wordsOf(errors: readonly PlatformWords[], secrets: readonly Secret[] = []): string {
  const said = errors.map(({ detail, title }) => detail ?? title ?? '').filter((text) => text !== '');
  return show(redact(said.join('; ').slice(0, WORDS_LIMIT * 8), secrets), WORDS_LIMIT);
}

/** A failed job, staging or deployment, in the platform's own words. */
export function failedError(
  what: string,
  words: string,
  evidence: LifeboatError['evidence'] = {},
  hints: readonly string[] = ['check the platform, then try again: what is done already is found'],
): LifeboatError {
  const said = show(words, WORDS_LIMIT);
  return new LifeboatError('platform.failed', `${what}${said === '' ? '' : `: "${said}"`}`, {
    hints,
    evidence: { ...evidence, ...(said === '' ? {} : { words: said }) },
  });
}

/** The error as one of the platform: the shared HTTP stack's errors mention the service. */
export function platformErrorFrom(thrown: unknown): unknown {
  if (!(thrown instanceof LifeboatError) || !thrown.code.startsWith('service.')) return thrown;
  const code = CODES[thrown.code.slice('service.'.length)] ?? 'platform.bad-answer';
  const ofPlatform = (text: string) => text.replaceAll('the service', 'the platform');
  // Errors of a certificate or a proxy are the same for both.
  const own = /TLS|the proxy/u.test(thrown.shortMessage) ? thrown.hints.map(ofPlatform) : [];
  return new LifeboatError(code, ofPlatform(thrown.shortMessage), {
    hints: [...own, ...(HINTS[code] ?? [])],
    evidence: thrown.evidence,
    exitCode: thrown.exitCode,
  });
}

/** The answer to a change did not arrive, and looking has not shown the result. */
export function lostAnswer(what: string, cause: LifeboatError): LifeboatError {
  return new LifeboatError(
    'platform.unreachable',
    `the answer to ${what} was lost, and the platform does not show the result yet`,
    {
      hints: ['try again: the platform is asked first, so that nothing is done twice'],
      evidence: { why: cause.shortMessage },
      cause,
    },
  );
}

export function badAnswer(what: string): LifeboatError {
  return new LifeboatError('platform.bad-answer', what, {
    hints: ['check that `platform.api` is the address that `cf api` prints'],
  });
}

export function stopped(): LifeboatError {
  return new LifeboatError('platform.stopped', 'stopped before the platform was done', {
    hints: ['resume when you are ready: what was begun is found again'],
    exitCode: EXIT.interrupted,
  });
}

/** Without the new binding the application would have no credentials at all. */
export function ownBinding(what: string, guid: string): LifeboatError {
  return new LifeboatError('platform.refused', `${what} would remove the binding that this run has made`, {
    hints: [
      'nothing was removed',
      'look again which applications are bound, or remove the old binding by hand',
    ],
    evidence: { binding: guid },
  });
}

export function hasCode(thrown: unknown, ...codes: readonly string[]): thrown is LifeboatError {
  return thrown instanceof LifeboatError && codes.includes(thrown.code);
}

const CODES: Readonly<Record<string, string>> = {
  unreachable: 'platform.unreachable',
  timeout: 'platform.unreachable',
  reset: 'platform.unreachable',
  error: 'platform.unreachable',
  'too-large': 'platform.too-large',
  stopped: 'platform.stopped',
};

const HINTS: Readonly<Record<string, readonly string[]>> = {
  'platform.unreachable': [
    'check the network and `platform.api`, then try again',
    'everything can be done by hand as well: the commands are listed',
  ],
  'platform.stopped': ['resume when you are ready: what was begun is found again'],
  'platform.bad-answer': ['check that `platform.api` is the address that `cf api` prints'],
  'platform.too-large': ['check that `platform.api` is the address that `cf api` prints'],
};

function rowOf(status: number): readonly [string, string, ...string[]] {
  switch (status) {
    case 401:
      return ['credentials.refused', 'the platform refuses the token', 'log in again: cf login, then go on'];
    case 403:
      return [
        'platform.forbidden',
        'the token has no right to do this',
        'ask a space developer of its space',
      ];
    case 404:
      return ['platform.not-found', 'the platform does not know this', 'check that the token sees its space'];
    case 429:
      return ['platform.busy', 'the platform gets too many requests', 'wait a moment, then try again'];
    default:
  }
  if (status >= 500) {
    return ['platform.unreachable', 'the platform gives no proper answer', 'try again in a moment'];
  }
  if (status >= 400) return ['platform.refused', 'the platform refuses', 'nothing was changed by this call'];
  return ['platform.bad-answer', 'the platform gives an unexpected answer', 'check `platform.api`'];
}

/** A proof; unknown facts are omitted. */
export function proof(
  outcome: PlatformProof['outcome'],
  text: string,
  at: string | null | undefined,
  evidence: Readonly<Record<string, PlatformProof['evidence'][string] | undefined>>,
): PlatformProof {
  const known = Object.entries(evidence).filter(
    (entry): entry is [string, PlatformProof['evidence'][string]] => entry[1] !== undefined,
  );
  return { outcome, text, ...(at == null ? {} : { at }), evidence: Object.fromEntries(known) };
}
