import * as z from 'zod';
import { EXIT } from '../../base/errors.ts';
import { bytes, runId, seconds, time } from '../../base/fields.ts';
import { schemaId } from '../../base/schema-id.ts';
import { DrillDue } from '../../report/drill/drill-report.ts';
import { NamedRun, RunEnding } from '../../store/projections/run-summary.ts';
import { InstanceStatus } from '../../view/fleet/status-schema.ts';
import { proof } from './proof.ts';
import { list, schema } from './result.ts';
import { runs } from './runs.ts';
import { service } from './service.ts';

const question = z.object({
  kind: z.enum(['choice', 'typed-name', 'secret', 'time', 'text', 'followUps']),
  prompt: z.string(),
  expected: z.string().optional().describe('what has to be typed, such as for --confirm'),
  earliest: time.optional(),
  latest: time.optional(),
  options: z.array(
    z.object({
      event: z.string().describe('stable, made for programs'),
      label: z.string(),
      recommended: z.boolean().optional().describe('true: what --yes answers'),
      disabled: z.string().optional().describe('why it cannot be chosen now'),
    }),
  ),
});

const check = z.object({
  what: z.string(),
  state: z.enum(['ok', 'warn', 'bad']),
  found: z.string(),
  hints: z.array(z.string()),
  credentials: z.boolean().optional().describe('true: bad because of the credentials alone'),
});

/** What concerns lifeboat itself. */
export const general = {
  error: schema('error', 'an error, or why a run waits, as the last line of standard error', {
    code: z.string().describe('stable, made for programs'),
    message: z.string(),
    problems: z
      .array(
        z.object({
          path: z.string(),
          line: z.int().describe('from 1'),
          column: z.int().describe('from 1'),
          key: z.string().describe('such as instances.orders.url; empty for the file as a whole'),
          message: z.string(),
        }),
      )
      .optional()
      .describe('all that is wrong with a file; the first of them is the message'),
    hints: z.array(z.string()).describe('what is safe to do next'),
    runId: runId.optional().describe('of the run that waits'),
    question: question.optional().describe('what the run that waits asks'),
    cause: z.string().optional().describe('the original text of an unexpected error'),
    exit: z.union(Object.values(EXIT).map((code) => z.literal(code))).describe('the exit code'),
  }),
  version: schema('version', 'this lifeboat and what it runs on', {
    version: z.string(),
    node: z.string(),
    platform: z.string().describe('system and processor, such as linux-x64'),
    revisions: z.array(z.string()).describe('the revisions of the service that it speaks'),
  }),
  schemas: list(
    'schemas',
    'the schemas of what lifeboat prints',
    z.object({ name: z.string(), about: z.string() }),
  ),
  doctor: list('doctor', 'what `doctor` looked at', check),
  init: schema('init', 'the config that `init` wrote, or would', {
    written: z.boolean(),
    path: z.string().describe('where the config is, or would be'),
    replaced: z.boolean().describe('whether another file was there'),
    instances: z.array(
      z.object({
        name: z.string(),
        url: z.string(),
        revision: z.string().describe('61, 62, v0, or auto where nobody answered'),
      }),
    ),
    keyStore: z.enum(['os', 'vault', 'memory', 'none']).describe('where keys can be kept now'),
    checks: z.array(check),
    config: z.string().optional().describe('the config, with --print'),
  }),
  scenarios: list(
    'scenarios',
    'what can go wrong in a lab',
    z.object({ name: z.string(), summary: z.string() }),
  ),
  prune: schema('prune', 'what was removed, and what could not be', {
    bytes: bytes.describe('of all items together'),
    items: z.array(
      z.object({
        kind: z.enum(['drill', 'download', 'home']),
        path: z.string(),
        what: z.string(),
        at: time.describe('when it was last used'),
        bytes,
        problem: z.string().optional().describe('why it is still there'),
      }),
    ),
  }),
};

const delivery = {
  target: z.string().describe('as lifeboat.yaml names it'),
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().optional().describe('of HTTP'),
  why: z.string().optional().describe('a code, such as timeout, ECONNREFUSED or exit 3'),
};

export const notify = {
  notification: schema('notification', 'what a target of `notify` gets', {
    id: z.string().describe('the same at each attempt: ignore one that you have had'),
    event: z.enum(['question', 'rto', 'ended', 'drill-due', 'drill-failed', 'test']),
    since: time.describe('since when this has been so, RFC 3339'),
    text: z.string().describe('one sentence for people'),
    command: z.string().describe('what goes on with it, to copy'),
    run: runId.optional().describe('missing where it is about no run, as the next fields are'),
    ...NamedRun.omit({ runId: true }).partial().shape,
    title: z.string().optional().describe('of the question'),
    outcome: RunEnding.optional().describe('how the run ended'),
    objective: z.object({ rtoSeconds: seconds, elapsedSeconds: seconds }).optional(),
    drill: z.string().optional().describe('the id of the drill that failed'),
  }),
  'notify-send': list(
    'notify-send',
    'the attempts that `notify send` made',
    z.object({ ...delivery, id: z.string(), event: z.string() }),
  ),
  'notify-test': list(
    'notify-test',
    'what each target said to a test notification',
    z.object({ ...delivery, said: z.string().optional().describe('the beginning of its answer') }),
  ),
};

/** What `lifeboat status` prints. */
export const status = {
  status: schema('status', 'each instance, and whether it could be recovered now', {
    at: time,
    items: z.array(InstanceStatus),
    drills: DrillDue,
  }),
} as const;

/**
 * The output of commands with `-o json` and `-o yaml`, by name: `lifeboat.NAME/1`. Both the types and the
 * JSON Schemas (`lifeboat schema`, `schemas/`) come from here.
 */
export const SCHEMAS = { ...general, ...runs, ...proof, ...service, ...status, ...notify } as const;
export type SchemaName = keyof typeof SCHEMAS;

/** A schema as JSON Schema, draft 2020-12. Fields that it does not name may be added later. */
export function jsonSchemaOf(name: SchemaName): Readonly<Record<string, unknown>> {
  const { about, type } = SCHEMAS[name];
  const { $schema, ...rest } = z.toJSONSchema(type, { io: 'input' });
  return { $schema, $id: schemaId(name), title: about, ...rest };
}

/** The name of the one schema that describes a file, not output (config/json-schema.ts). */
export const OF_CONFIG = 'config';

export function listSchemas(): { readonly name: SchemaName | typeof OF_CONFIG; readonly about: string }[] {
  const printed = (Object.keys(SCHEMAS) as SchemaName[]).map((name) => ({
    name,
    about: SCHEMAS[name].about,
  }));
  const all = [...printed, { name: OF_CONFIG, about: 'lifeboat.yaml itself, for editors' } as const];
  return all.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
