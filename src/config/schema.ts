import { z } from 'zod';
import { Duration } from '../base/duration.ts';
import { problemOfStore } from './store-address.ts';

/** An address that can be shown wherever it is used; one that cannot is in no message. */
const Address = z
  .string()
  .refine(
    (text) => !/[?#]/u.test(text) && !hasCredentials(text),
    'an address has no query, fragment, user or password: a secret in it would be shown; the token has its own setting, `token`',
  );

function hasCredentials(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Where no host is understood, nobody knows what stands before the sign.
  if (url === undefined || !/^https?:$/u.test(url.protocol)) return text.includes('@');
  return url.username !== '' || url.password !== '';
}

const scheme = z.string().optional();

const OutsideToken = z.union(
  [
    z.strictObject({ command: z.string().min(1), scheme }),
    z.strictObject({ env: z.string().min(1), scheme }),
    z.strictObject({ file: z.string().min(1), scheme }),
  ],
  'a token comes from one source: {command: …}, {env: …} or {file: …}',
);
/** Where an access token comes from. The token itself never stands in the config. */
export const TokenConfig = z.union(
  [...OutsideToken.options, z.strictObject({ keychain: z.literal(true), scheme })],
  'a token comes from one source: {command: …}, {env: …}, {file: …} or {keychain: true}',
);
export type TokenConfig = z.infer<typeof TokenConfig>;

/** One data-service instance. Times in milliseconds after parsing. */
export const InstanceConfig = z.strictObject({
  /** As `cf service` prints it; V1 and V0 paths follow from it (service-api.md section 4). */
  url: Address,
  /** Interface revision (section 9); `auto` finds it out at every start, by GETs. */
  revision: z
    .union(
      [z.literal(61), z.literal(62), z.literal('v0'), z.literal('auto')],
      'a revision is 61, 62, v0 or auto, without quotes',
    )
    .default(62),
  /**
   * Ways to a download in the order in which they are tried, where the revision's own order (section 4.3)
   * does not fit.
   */
  downloads: z
    .array(z.enum(['v1', 'v0', 'v0-post']))
    .min(1)
    .optional(),
  token: TokenConfig.optional(),
  role: z.enum(['source', 'target']).default('source'),
  objectives: z.strictObject({ rto: Duration.optional(), rpo: Duration.optional() }).default({}),
  apps: z
    .array(
      z.strictObject({
        name: z.string(),
        space: z.string().optional(),
        org: z.string().optional(),
        /** Who sees to it that it is bound again; whoever runs the recovery without it. */
        owner: z.string().optional(),
      }),
    )
    .default([]),
  /**
   * The in-flight window: how long a lost request may still be under way in the router (15 minutes by
   * default, section 8).
   */
  inFlight: Duration.default(15 * 60_000),
  /** When the platform's router ends a request (section 8): what a download must fit into. */
  router: Duration.default(15 * 60_000),
  /** PEM file with further certificate authorities. */
  ca: z.string().optional(),
  /**
   * A shell command that asks the data itself, for instance with `psql`: the first date and time in its
   * output is that of the newest record, the first whole number beside it counts them. Run before and after a
   * restore, it measures what was lost.
   */
  reconcile: z.strictObject({ command: z.string().min(1), timeout: Duration.default(30_000) }).optional(),
  /**
   * Whether a second person has to approve destructive steps on this instance; without it as `approvals`
   * says.
   */
  approval: z.enum(['required', 'none']).optional(),
  /** True for a lab or scratch instance: every screen says REHEARSAL. */
  rehearsal: z.boolean().default(false),
});
export type InstanceConfig = z.infer<typeof InstanceConfig>;

const InstanceName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'an instance name has letters, digits, dots, dashes; no slash or space',
  )
  .refine((name) => name !== 'lifeboat', 'the name "lifeboat" is reserved');

/**
 * The application platform: Cloud Foundry's v3 API. Without it the tool `cf` is used where it is logged in.
 */
const PlatformConfig = z.strictObject({
  /** As `cf api` prints it. */
  api: Address,
  /** Default: `cf oauth-token`. */
  token: OutsideToken.optional(),
  ca: z.string().optional(),
});

/** Approval of destructive steps by a second person. */
const ApprovalsConfig = z.strictObject({
  /**
   * File in the format of OpenSSH's allowed signers (ssh-keygen(1)): who may approve, with which keys, and
   * until when.
   */
  allowedSigners: z.string(),
  /** File of revoked keys: an OpenSSH key revocation list, or public keys one a line. */
  revoked: z.string().optional(),
  /** How long a challenge may be signed and used. */
  expires: Duration.default(60 * 60_000),
  /**
   * Which steps ask for it on instances that do not say themselves: those that overwrite data, every
   * destructive one, or none.
   */
  required: z.enum(['overwrites', 'destructive', 'none']).default('destructive'),
});

/** `sqlite`, or `postgres://…` without a password. Its text is in no message. */
const StoreConfig = z.string().check((context) => {
  const message = problemOfStore(context.value);
  if (message !== undefined) context.issues.push({ code: 'custom', message, input: undefined });
});

/**
 * A folder, or a command that gets each checkpoint on its standard input: a ticket, a git repository, a
 * transparency log.
 */
const CheckpointPlace = z.union(
  [
    z.string().min(1),
    z.strictObject({ folder: z.string().min(1) }),
    z.strictObject({ command: z.string().min(1), timeout: Duration.default(10_000) }),
  ],
  'a place for checkpoints is a folder, {folder: …} or {command: …, timeout: 10s}',
);

/** What is notified: see `Notice` of src/notify. */
export const NotifyEvent = z.enum(['question', 'rto', 'ended', 'drill-due', 'drill-failed']);
export type NotifyEvent = z.infer<typeof NotifyEvent>;

const notified = {
  /** What the record names it by: under another name it is another target, which gets nothing old. */
  name: InstanceName,
  /** Default: every event. */
  on: z.array(NotifyEvent).min(1).optional(),
};

const Webhook = z.strictObject({
  ...notified,
  /** https, or http on this machine. One that is a secret itself comes from the environment or a file. */
  url: z.union(
    [Address, z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
    'a url is an address without a query, {env: …} or {file: …}',
  ),
  /** By their names. `scheme` is put before a value; by default only before that of `Authorization`. */
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/u, 'this is not the name of a header'),
      OutsideToken,
    )
    .default({}),
  ca: z.string().optional(),
});

/** A command gets the notification on its standard input. */
const NotifyCommand = z.strictObject({
  ...notified,
  command: z.union([z.string().min(1), z.array(z.string()).min(1)]),
});

/** Who is told when a run needs somebody. */
const NotifyTarget = z.union(
  [Webhook, NotifyCommand],
  'a target has a name, and a url (with headers, ca) or a command; `on` names events',
);

/** lifeboat.yaml. */
export const Config = z.strictObject({
  instances: z.record(
    InstanceName,
    InstanceConfig,
    'name at least one: `lifeboat lab` prints a config that works',
  ),
  platform: z.union([PlatformConfig, z.literal('cf'), z.literal('none')]).default('cf'),
  /** Folder with a team's own text for the runbooks, laid over the ones that come along: `<runbook>.md`. */
  runbooks: z.string().optional(),
  approvals: ApprovalsConfig.optional(),
  operator: z.strictObject({ name: z.string().optional(), email: z.string().optional() }).default({}),
  /**
   * Further places for signed checkpoints; one on another machine betrays what one on this machine cannot.
   */
  checkpoints: z.array(CheckpointPlace).default([]),
  /** The head of reports: an organisation's name, and the file of its logo (PNG or SVG, at most 256 KiB). */
  report: z
    .strictObject({ name: z.string().min(1).max(80).optional(), logo: z.string().min(1).optional() })
    .optional(),
  /** How often a drill has to be proven: `every: 90d`. What is due next is said by `status` and `doctor`. */
  drills: z
    .strictObject({ every: Duration.refine((ms) => ms > 0, 'an interval is longer than nothing') })
    .optional(),
  /** Webhooks and commands that are told of questions, of objectives in danger, and of ends. */
  notify: z
    .array(NotifyTarget)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two targets have one name')
    .default([]),
  /** Where entries live; default: SQLite in LIFEBOAT_HOME. LIFEBOAT_STORE wins over it. */
  store: StoreConfig.optional(),
});
export type Config = z.infer<typeof Config>;
