import * as z from 'zod';
import { Duration, Limit } from '../base/duration.ts';
import { idOfInstance, readInstanceUrl } from '../base/instance-url.ts';
import { schemaId } from '../base/schema-id.ts';
import { assertTargetsNamed, assertWaiversNamed, End, EvaluateConfig, WaiversConfig } from './evaluation.ts';
import { KEY_STORES } from './key-store-named.ts';
import { SchedulesConfig } from './schedules.ts';
import { ServeConfig } from './serve.ts';
import { problemOfStore } from './store-address.ts';

/** An address that is safe to show wherever it is used; an unsafe one appears in no message. */
const Address = z.string().refine((text) => !/[?#]/u.test(text) && !hasCredentials(text), {
  error:
    'an address has no query, fragment, user or password: ' +
    'a secret in it would be shown; the token has its own setting, `token`',
  abort: true,
});

const InstanceAddress = Address.superRefine((text, { addIssue }) => {
  const read = readInstanceUrl(text);
  if (typeof read === 'string')
    addIssue(`this ${read}: \`cf service NAME\` prints the address, https://HOST/service-instances/ID`);
});

function hasCredentials(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Without a parsable host, the part before the sign may be anything.
  if (url === undefined || !/^https?:$/u.test(url.protocol)) return text.includes('@');
  return url.username !== '' || url.password !== '';
}

const scheme = z
  .string()
  .optional()
  .describe('goes before a token that has none: Bearer by default, none sends it bare');

const command = z.string().min(1).describe('a shell command that prints the token, such as cf oauth-token');
const variable = z.string().min(1).describe('the environment variable that holds the token');
const file = z.string().min(1).describe('the file that holds the token; its path is relative to this file');

const OutsideToken = z.union(
  [
    z.strictObject({ command, scheme }),
    z.strictObject({ env: variable, scheme }),
    z.strictObject({ file, scheme }),
  ],
  'a token comes from one source: {command: …}, {env: …} or {file: …}',
);
const keychain = z.literal(true).describe('the key store; `lifeboat keys add NAME --token` puts it there');

const expires = End.optional().describe(
  'when the token ends, or the access behind its command, where the token itself does not say: a date or a time',
);

/** Where an access token comes from. The token itself is never in the config. */
export const TokenConfig = z.union(
  [
    z.strictObject({ command, scheme, expires }),
    z.strictObject({ env: variable, scheme, expires }),
    z.strictObject({ file, scheme, expires }),
    z.strictObject({ keychain, scheme, expires }),
  ],
  'a token comes from one source: {command: …}, {env: …}, {file: …} or {keychain: true}',
);
export type TokenConfig = z.infer<typeof TokenConfig>;

/** The newest revision with a client. Later revisions only add to it, as far as documented. */
const NEWEST_REVISION = 62;

/** A program and its arguments: started without a shell, so that none of them becomes code. */
const Argv = z
  .array(z.string(), 'a program and its arguments, as a list: [kubectl, rollout, restart, deploy/NAME]')
  .min(1)
  .refine(([program]) => program !== '', 'the name of the program is missing');

const ReconnectConfig = z.strictObject({
  command: Argv.describe(
    'gives the application its new credentials: a program and its arguments, without a shell; no secret in it',
  ),
  proof: Argv.describe(
    'shows that it works with them: ends with 0 only then; it changes nothing, so it may run at any time',
  ),
  timeout: Limit.prefault('10m').describe('how long each of the two may take'),
});

const cryptoperiod = Duration.refine((ms) => ms > 0, 'a cryptoperiod is longer than zero')
  .optional()
  .describe('how long a key may be in force before it is due for rotation, such as 180d');

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/u;

/** One data-service instance. Times in milliseconds after parsing. */
export const InstanceConfig = z.strictObject({
  // V1 and V0 paths follow from it (service-api.md section 4).
  url: InstanceAddress.describe("address of the instance's dashboard, as `cf service NAME` prints it"),
  revision: z
    .union(
      [
        z.literal(61),
        z.literal(NEWEST_REVISION),
        z.int().gt(NEWEST_REVISION).lt(1000),
        z.literal('v0'),
        z.literal('auto'),
      ],
      'a revision is 61, 62, v0 or auto, without quotes; one after 62 is read as 62',
    )
    .default(NEWEST_REVISION)
    .transform((given) => (given === 61 || typeof given === 'string' ? given : NEWEST_REVISION))
    .describe(
      'interface revision of the service; one after 62 is read as 62; auto finds it out at every start, by GETs',
    ),
  // The revision's own order is that of service-api.md section 4.3.
  downloads: z
    .array(z.enum(['v1', 'v0', 'v0-post']))
    .min(1)
    .optional()
    .describe('ways to a download in the order in which they are tried; default: by revision'),
  token: TokenConfig.optional().describe(
    'where the access token comes from: {command}, {env}, {file} or {keychain: true}; never the token itself',
  ),
  role: z.enum(['source', 'target']).default('source').describe('target: kept to recover into'),
  tags: z
    .array(z.string().regex(NAME, 'a tag has letters, digits, dots, dashes; no slash or space'))
    .default([])
    .describe('words by which a plan selects instances, such as tier-1'),
  objectives: z
    .strictObject({
      rto: Duration.optional().describe('how long a recovery may take'),
      rpo: Duration.optional().describe('how much data may be lost, counted in time'),
    })
    .default({})
    .describe('what recoveries and drills are measured against'),
  target: z
    .string()
    .optional()
    .describe('the instance that it is to be recovered into; its evaluation looks whether that one fits'),
  apps: z
    .array(
      z.strictObject({
        name: z.string(),
        space: z.string().optional(),
        org: z.string().optional(),
        owner: z
          .string()
          .optional()
          .describe('who binds it again; default: the person who runs the recovery'),
        reconnect: ReconnectConfig.optional().describe(
          "a team's own commands in place of those of the platform: {command, proof, timeout}",
        ),
      }),
    )
    .optional()
    .describe(
      'applications to bind again after a restore, besides those that the platform names; [] says that there are none',
    ),
  // The default of service-api.md section 8, like that of `router`.
  inFlight: Duration.prefault('15m').describe(
    'the in-flight window: how long a lost request may still be under way in the router',
  ),
  router: Limit.prefault('15m').describe(
    "when the platform's router ends a request: what a download must fit into",
  ),
  ca: z.string().optional().describe('PEM file with further certificate authorities'),
  reconcile: z
    .strictObject({
      command: z
        .string()
        .min(1)
        .describe(
          'the first time in its output is that of the newest record, the first other whole number is the number of records',
        ),
      timeout: Limit.prefault('30s'),
    })
    .optional()
    .describe(
      'a shell command that queries the data, such as psql; before and after a restore it measures the loss',
    ),
  approval: z
    .enum(['required', 'none'])
    .optional()
    .describe('whether a second person approves destructive steps here; default: as `approvals` says'),
  cryptoperiod,
  rehearsal: z
    .boolean()
    .default(false)
    .describe('true for a lab or scratch instance: every screen says REHEARSAL'),
});
export type InstanceConfig = z.infer<typeof InstanceConfig>;

export const InstanceName = z
  .string()
  .regex(NAME, 'an instance name has letters, digits, dots, dashes; no slash or space')
  .refine((name) => name !== 'lifeboat', 'the name "lifeboat" is reserved')
  .refine((name) => !name.startsWith('plan.'), 'names that begin with "plan." are those of plans');

/** The application platform: Cloud Foundry's v3 API. Without it the tool `cf` is used if it is logged in. */
const PlatformConfig = z.strictObject({
  api: Address.describe("address of Cloud Foundry's API, as `cf api` prints it"),
  token: OutsideToken.optional().describe('default: {command: cf oauth-token}'),
  ca: z.string().optional().describe('PEM file with further certificate authorities'),
});

/**
 * The app offers to break a lab with its token, so only an address of this machine counts. A name below
 * `localhost` does not: not every resolver keeps it on this machine.
 */
const LabAddress = z
  .string()
  .refine(
    (text) =>
      /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?\/?$/u.test(text) &&
      URL.canParse(text),
    'a lab runs on this machine: its url is http://127.0.0.1:PORT, as `lifeboat lab` prints it',
  );

/** A running lab that the app may break: `lifeboat lab` and `lifeboat drill` use their own. */
const LabConfig = z.strictObject({
  url: LabAddress.describe('address of a lab on this machine: http://127.0.0.1:PORT'),
  token: OutsideToken.describe("where the lab's token comes from: {file}, {env} or {command}"),
});

const ApprovalsConfig = z.strictObject({
  allowedSigners: z
    .string()
    .describe("file in the format of OpenSSH's allowed signers (ssh-keygen(1)): who may approve"),
  revoked: z
    .string()
    .optional()
    .describe('file of revoked keys: an OpenSSH key revocation list, or public keys, one per line'),
  expires: Duration.prefault('1h').describe('how long a request may be signed and used'),
  required: z
    .enum(['overwrites', 'destructive', 'none'])
    .default('destructive')
    .describe('which steps ask for it: those that overwrite data, every destructive one, or none'),
});

/** `sqlite`, or `postgres://…` without a password. Its text appears in no message. */
const StoreConfig = z.string().check((context) => {
  const message = problemOfStore(context.value);
  if (message !== undefined) context.issues.push({ code: 'custom', message, input: undefined });
});

/** A folder, or a command with each checkpoint on standard input: a ticket, git, a transparency log. */
const CheckpointPlace = z.union(
  [
    z.string().min(1),
    z.strictObject({ folder: z.string().min(1) }),
    z.strictObject({ command: z.string().min(1), timeout: Limit.prefault('10s') }),
  ],
  'a place for checkpoints is a folder, {folder: …} or {command: …, timeout: 10s}',
);

/** The events to notify about: see `Notice` of src/notify. */
export const NotifyEvent = z.enum([
  'question',
  'rto',
  'ended',
  'drill-due',
  'drill-failed',
  'rotation-due',
  'evaluation-due',
]);
export type NotifyEvent = z.infer<typeof NotifyEvent>;

const notified = {
  /** Under another name it is another target, which gets no old events. */
  name: z
    .string()
    .regex(NAME, 'the name of a target has letters, digits, dots, dashes; no slash or space')
    .describe('the name of the target on record'),
  on: z.array(NotifyEvent).min(1).optional().describe('which events; default: all'),
};

const Webhook = z.strictObject({
  ...notified,
  url: z
    .union(
      [Address, z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
      'a url is an address without a query, {env: …} or {file: …}',
    )
    .describe('https, or http on this machine; one that is a secret comes from {env} or {file}'),
  /** By name. `scheme` is put before a value; by default only before that of `Authorization`. */
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
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .describe('gets the notification on its standard input'),
});

const NotifyTarget = z.union(
  [Webhook, NotifyCommand],
  'a target has a name, and a url (with headers, ca) or a command; `on` names events',
);

/** Records, locks and calls in doubt use the name: a second one could send the same change twice. */
function assertOneNameEach(
  instances: Readonly<Record<string, InstanceConfig>>,
  { addIssue }: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  const byId = Map.groupBy(Object.entries(instances), ([, { url }]) => idOfInstance(url));
  for (const [id, group] of byId) {
    if (id === undefined || group.length < 2) continue;
    for (const [name] of group) {
      const others = group.flatMap(([other]) => (other === name ? [] : [other]));
      const [first = '', ...more] = others;
      const named = more.length === 0 ? `${first} has` : `${first} and ${more.length} more have`;
      addIssue({
        code: 'custom',
        path: [name, 'url'],
        message: `${named} the same address: one instance has one name`,
      });
    }
  }
}

/** A holder of escrow copies: an age recipient, with or without the name of the person. */
const EscrowRecipient = z
  .union(
    [z.string().min(1), z.strictObject({ name: z.string().min(1).max(80), recipient: z.string().min(1) })],
    'a recipient is age1… or {name: …, recipient: age1…}',
  )
  .transform((given) => (typeof given === 'string' ? { recipient: given } : given))
  .refine(({ recipient }) => /^age1[0-9a-z]{20,4000}$/u.test(recipient), {
    error: 'a recipient begins with age1: `lifeboat keys identity` prints the one of this person',
  });

const EscrowConfig = z
  .strictObject({
    recipients: z
      .array(EscrowRecipient)
      .min(1)
      .refine((all) => new Set(all.map(({ recipient }) => recipient)).size === all.length, 'two are the same')
      .describe('who can open the copies: age recipients, or {name, recipient}'),
    atLeast: z
      .int()
      .min(1)
      .default(2)
      .describe('how many of them have to have shown that they can, before a key is sent to the service'),
    places: z
      .array(z.string().min(1))
      .min(1)
      .refine((all) => new Set(all).size === all.length, 'two are the same')
      .default(['store'])
      .describe(
        'where copies are kept: folders, and `store` for the store of lifeboat; a key is in all of them',
      ),
    proof: Duration.prefault('90d').describe('how long it counts that a holder opened a challenge'),
  })
  .refine(({ recipients, atLeast }) => atLeast <= recipients.length, {
    path: ['atLeast'],
    error: 'more holders are asked for than there are recipients (atLeast is 2 where it is not written)',
  });

const KeysConfig = z.strictObject({
  escrow: EscrowConfig.optional().describe('sealed copies of every key, made before the service hears of it'),
  cryptoperiod,
});

const AtWork = z.int().min(1).max(10_000);

export const Config = z
  .strictObject({
    instances: z
      .record(InstanceName, InstanceConfig, 'name at least one: `lifeboat init` writes a config')
      .superRefine(assertOneNameEach)
      .superRefine(assertTargetsNamed)
      .describe('the data-service instances, by name'),
    platform: z
      .union(
        [PlatformConfig, z.literal('cf'), z.literal('none')],
        'a platform is cf, {api: …} or, for Kubernetes and machines, none',
      )
      .default('cf')
      .describe(
        'cf: the API of Cloud Foundry, with the address and the token of the cf tool; {api}: another address of it; none: commands of yours, or by hand',
      ),
    runbooks: z
      .string()
      .optional()
      .describe("folder with a team's own text for the runbooks, shown above the built-in text"),
    approvals: ApprovalsConfig.optional().describe('who may approve destructive steps as a second person'),
    operator: z
      .strictObject({ name: z.string().optional(), email: z.string().optional() })
      .default({})
      .describe('who runs this, for the record; default: the login name'),
    checkpoints: z
      .array(CheckpointPlace)
      .default([])
      .describe(
        'further places for signed checkpoints: folders, or commands that get each on standard input',
      ),
    report: z
      .strictObject({
        name: z.string().min(1).max(80).optional().describe('name of the organisation'),
        logo: z.string().min(1).optional().describe('PNG file of at most 256 KiB'),
      })
      .optional()
      .describe('name and logo at the head of reports'),
    drills: z
      .strictObject({
        every: Duration.refine((ms) => ms > 0, 'an interval is longer than zero').describe('such as 90d'),
      })
      .optional()
      .describe('how often a drill has to be proven; `status` and `doctor` say when the next one is due'),
    workers: z
      .strictObject({
        perHost: AtWork.optional().describe('on the instances of one service host'),
        perTeam: AtWork.optional().describe('in the whole store'),
      })
      .optional()
      .describe('how many runs may be at work at once where workers take them'),
    schedules: SchedulesConfig,
    evaluate: EvaluateConfig.optional().describe(
      'how often `lifeboat plans evaluate` is to run; two periods without it are a finding',
    ),
    waivers: WaiversConfig,
    notify: z
      .array(NotifyTarget)
      .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two targets have one name')
      .default([])
      .describe(
        'webhooks and commands that are notified of questions, objectives in danger, ends of runs, and drills',
      ),
    serve: ServeConfig.optional().describe(
      '`lifeboat serve`: where it listens, and who may look: {listen, hosts, trustedProxies, identity, names}',
    ),
    lab: LabConfig.optional().describe(
      'a running lab on this machine, for the Lab screen of the app: `lifeboat lab` writes it',
    ),
    keyStore: z
      .enum(KEY_STORES)
      .optional()
      .describe(
        'where keys are kept, on a line of its own: os (default), the keychain of this machine; vault, a file under a passphrase',
      ),
    keys: KeysConfig.default({}).describe('escrow copies of keys, and how long a key may be in force'),
    store: StoreConfig.optional().describe(
      'sqlite (default, in LIFEBOAT_HOME), or postgres://USER@HOST/DATABASE of a team, without a password',
    ),
  })
  .superRefine(assertWaiversNamed);
export type Config = z.infer<typeof Config>;

export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [field: string]: unknown;
}

export const CONFIG_SCHEMA = schemaId('config');

/** JSON Schema draft 7, for editors. Laxer than `parseConfig`, which alone checks texts such as addresses. */
export function configJsonSchema(): JsonSchema {
  made ??= makeSchema();
  return made;
}

/** Created once: each misspelled key is looked up in it. */
let made: JsonSchema | undefined;

function makeSchema(): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(Config, { io: 'input', target: 'draft-7' });
  return { $schema, $id: CONFIG_SCHEMA, title: 'lifeboat.yaml', ...rest } as JsonSchema;
}
