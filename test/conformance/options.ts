import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Level, Revision } from './check.ts';

/** Where an instance is. */
export interface Address {
  readonly origin: string;
  readonly instance: string;
}

export interface Options {
  readonly address: Address;
  /** As it was given: with or without a scheme word. */
  readonly token: string;
  readonly revision: Revision | 'auto';
  readonly level: Level;
  readonly target?: Address;
  readonly readonlyToken?: string;
  /** Where the encryption key stands that the suite may set; made with a new key when it is not there. */
  readonly keyFile?: string;
  /** The name of the instance, typed to confirm it. */
  readonly meant?: string;
  /** Only checks whose id begins like this. */
  readonly only?: string;
  /** Milliseconds until a task must have ended. */
  readonly deadline: number;
  /** Milliseconds between two looks at a task, at first. */
  readonly poll: number;
  readonly json: boolean;
}

/**
 * The suite could not begin: wrong words, no server, a token that is refused. Never a verdict about the
 * service.
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

export const USAGE = `node test/conformance/run.ts --url URL (--token TOKEN | --token-file FILE) [options]

  --url URL                   https://HOST/service-instances/ID, or https://HOST together with --instance ID
  --instance ID               the id of the instance, when the url does not end with it
  --token TOKEN               visible in process lists: prefer the next one, or LIFEBOAT_CONFORMANCE_TOKEN
  --token-file FILE           the token, with or without a scheme word before it
  --revision 61|62|v0|auto    what the server should be; auto finds out (default)
  --changes none|safe|all     none: only GETs (default). safe: makes backups, changes settings and back.
                              all: restores, performs, restarts: the data of instance and target is lost
  --i-mean-it NAME            the name of the instance: needed for "all" unless every url is on this machine
  --target URL                an instance that may be overwritten, for disaster recovery
  --key-file FILE             the encryption key that "all" sets; created if missing. Keep it: backups need it
  --readonly-token-file FILE  a token that may look and not touch, for the checks of rights
  --only PREFIX               only checks whose id begins like this
  --deadline SECONDS          how long a backup or a restore may take (default 900)
  --json                      one object for each check

Exit code 0: nothing failed. 1: something failed. 2: the suite could not begin.
Self-signed certificates: NODE_EXTRA_CA_CERTS=ca.pem
`;

/** Reads argv and the files it names. Throws `CannotStart`; gives undefined when only help is asked for. */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options | undefined {
  const values = parse(args);
  if (values.help === true) return undefined;
  const { url, target } = values;
  if (url === undefined) throw new CannotStart('--url is missing');
  const address = addressOf(url, values.instance);
  const other = target === undefined ? undefined : addressOf(target, undefined);
  if (other?.instance === address.instance) throw new CannotStart('the target is the instance itself');
  const optional = {
    target: other,
    readonlyToken: fileText(values['readonly-token-file']),
    keyFile: values['key-file'],
    meant: values['i-mean-it'],
    only: values.only,
  };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return {
    ...given,
    address,
    token: tokenOf(values.token, values['token-file'], env['LIFEBOAT_CONFORMANCE_TOKEN']),
    revision: oneOf('--revision', values.revision, { 61: 61, 62: 62, v0: 'v0', auto: 'auto' } as const),
    level: oneOf('--changes', values.changes, { none: 'none', safe: 'safe', all: 'all' } as const),
    deadline: secondsOf(values.deadline) * 1000,
    poll: 250,
    json: values.json === true,
  };
}

/** The dashboard address of an instance, the V1 address of it, or a base url and the id. */
export function addressOf(text: string, instance: string | undefined): Address {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new CannotStart('a url is not a web address');
  const within = /^\/(?:service-instances|v1\/instances)\/([\w.~-]+)\/?$/.exec(url.pathname)?.[1];
  const id = within ?? instance;
  if (id === undefined) throw new CannotStart('the url names no instance: end it with /service-instances/ID');
  if (within === undefined && url.pathname !== '/')
    throw new CannotStart('the base url has a path of its own');
  if (instance !== undefined && instance !== id)
    throw new CannotStart('--instance is not the one of the url');
  return { origin: url.origin, instance: id };
}

export function isLoopback({ origin }: Address): boolean {
  const { hostname } = new URL(origin);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

const POSITIONAL = 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL';

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        url: text,
        instance: text,
        token: text,
        'token-file': text,
        revision: { ...text, default: 'auto' },
        changes: { ...text, default: 'none' },
        'i-mean-it': text,
        target: text,
        'key-file': text,
        'readonly-token-file': text,
        only: text,
        deadline: { ...text, default: '900' },
        json: flag,
        help: flag,
      },
    });
    return values;
  } catch (error) {
    // The words are not repeated: there may be a token where none belongs.
    const stray = error instanceof Error && 'code' in error && error.code === POSITIONAL;
    throw new CannotStart(stray ? 'there is a word that belongs to no option' : reasonOf(error), {
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tokenOf(given: string | undefined, file: string | undefined, env: string | undefined): string {
  if (given !== undefined && file !== undefined)
    throw new CannotStart('--token and --token-file exclude each other');
  const token = (given ?? fileText(file) ?? env ?? '').trim();
  if (token === '') throw new CannotStart('there is no token');
  // It goes into a header, and a broken one would be quoted in the refusal.
  if (/[^\x20-\x7e]/.test(token)) throw new CannotStart('the token is not one line of printable ASCII');
  return token;
}

function fileText(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CannotStart(`cannot read ${file}`, { cause: error });
  }
}

function oneOf<T>(option: string, text: string, allowed: Readonly<Record<string, T>>): T {
  const value = Object.hasOwn(allowed, text) ? allowed[text] : undefined;
  if (value === undefined) throw new CannotStart(`${option} is one of ${Object.keys(allowed).join(', ')}`);
  return value;
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds < 86_400)) throw new CannotStart('--deadline is a number of seconds');
  return seconds;
}
