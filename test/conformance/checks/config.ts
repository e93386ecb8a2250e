import type { Api } from '../api.ts';
import { type Check, skip } from '../check.ts';
import { call, ENDPOINTS, UNKNOWN } from '../endpoints.ts';
import { ensure, expectError } from '../expect.ts';
import { act, readConfig } from '../reads.ts';
import { Message, SomeConfig } from '../shapes.ts';
import type { Subject } from '../subject.ts';
import { changedFields, sameFields } from './compare.ts';

const SETTABLE = ['min_backup_count', 'retention_time', 'exclude_from_auto_backup'] as const;
const READ_ONLY = ['min_encryption_key_length', 'backup_type'] as const;
export const FIELDS = [...SETTABLE, ...READ_ONLY];

/** Sections 2.3 and 4.1 (8), (9). */
export const CONFIG: readonly Check[] = [
  changed('min_backup_count', ({ min_backup_count = 0 }) => ({ min_backup_count: min_backup_count + 1 })),
  changed('retention_time', ({ retention_time = 0 }) => ({ retention_time: retention_time + 1 })),
  changed('exclude_from_auto_backup', ({ exclude_from_auto_backup = false }) => ({
    exclude_from_auto_backup: !exclude_from_auto_backup,
  })),
  {
    id: 'config.set-nothing',
    section: '4.1 (9)',
    title: 'all fields are optional: an empty change is taken and changes nothing',
    needs: { level: 'safe' },
    run: async (subject) => {
      const before = await readConfig(subject);
      await andBack(subject.api, before.value, async () => {
        await act(subject, ENDPOINTS.setConfig, Message, { body: {} });
        const after = await readConfig(subject);
        sameFields(before.value, after.value, FIELDS, after.exchange);
      });
    },
  },
  invalid('negative-count', 'a negative min_backup_count', () => ({ min_backup_count: -1 })),
  invalid('negative-time', 'a negative retention_time', () => ({ retention_time: -1 })),
  invalid('count-type', 'a min_backup_count that is no whole number', ({ min_backup_count = 0 }) => ({
    min_backup_count: min_backup_count + 0.5,
  })),
  invalid('time-type', 'a retention_time that is a text', () => ({ retention_time: 'a week' })),
  invalid('exclude-type', 'an exclude_from_auto_backup that is no boolean', () => ({
    exclude_from_auto_backup: 'sometimes',
  })),
  {
    id: 'config.invalid.mixed',
    section: '4.1 (9), 7 (4)',
    title: 'a change with one invalid value changes nothing at all',
    needs: { level: 'safe' },
    run: async (subject) =>
      refuses(subject, ({ min_backup_count = 0 }) => ({
        min_backup_count: min_backup_count + 1,
        retention_time: -1,
      })),
  },
  {
    id: 'config.invalid.short-key',
    section: '8',
    title: 'a key shorter than min_encryption_key_length is refused with 422',
    // A server that takes it has another key from now on.
    needs: { level: 'all', key: true },
    run: async (subject) => {
      const { value } = await readConfig(subject);
      const length = (value.min_encryption_key_length ?? 0) - 1;
      if (length < 1) skip('every key is long enough here');
      await refuses(subject, () => ({ encryption_key: 'k'.repeat(length) }));
    },
  },
  {
    id: 'config.set-key',
    section: '4.1 (9)',
    title: 'an encryption key is accepted, with a message, and the configuration shows no change',
    needs: { level: 'all', key: true },
    run: async (subject) => {
      const { key } = subject;
      if (key === undefined) skip('no key to set');
      const before = await readConfig(subject);
      await andBack(subject.api, before.value, async () => {
        const body = { encryption_key: key };
        const { exchange } = await act(subject, ENDPOINTS.setConfig, Message, { body });
        ensure(!exchange.text.includes(key), 'the answer carries the key', exchange);
        const after = await readConfig(subject);
        ensure(!after.exchange.text.includes(key), 'the configuration carries the key', after.exchange);
        sameFields(before.value, after.value, FIELDS, after.exchange);
      });
    },
  },
  {
    id: 'config.read-only',
    section: '2.3',
    title: 'backup_type and min_encryption_key_length cannot be set',
    needs: { level: 'all' },
    run: async (subject) => {
      const before = await readConfig(subject);
      const { backup_type, min_encryption_key_length = 0 } = before.value;
      const other = backup_type === 'standard' ? 'continuous_archiving' : 'standard';
      const body = { backup_type: other, min_encryption_key_length: min_encryption_key_length + 1 };
      // A server that takes the type has none of its points in time from then on.
      await andBack(subject.api, before.value, async () => {
        const exchange = await call(subject.api, ENDPOINTS.setConfig, UNKNOWN, body);
        if (exchange.status !== 200) expectError(exchange, [422], 'v1');
        const after = await readConfig(subject);
        sameFields(before.value, after.value, FIELDS, after.exchange);
      });
    },
  },
  {
    id: 'config.zero',
    section: '8',
    title: 'zero is the smallest min_backup_count and retention_time, and is taken',
    // Zero may delete backups, so only where everything may be overwritten.
    needs: { level: 'all', target: true },
    run: async (subject) => {
      const { target } = subject;
      if (target === undefined) skip('no target');
      await changeAndBack(subject, target, () => ({ min_backup_count: 0, retention_time: 0 }));
    },
  },
];

type Change = (config: SomeConfig) => Readonly<Record<string, unknown>>;

function changed(field: (typeof SETTABLE)[number], change: Change): Check {
  return {
    id: `config.set.${field}`,
    section: '4.1 (9)',
    title: `${field} is read back as it was set, and nothing else changes`,
    needs: { level: 'safe' },
    run: async (subject) => await changeAndBack(subject, subject.api, change),
  };
}

/**
 * Whatever becomes of the work, what it has changed of the configuration is set back afterwards, as far as
 * the service lets it: the check that looks at the end reports what is not set back.
 */
async function andBack(api: Api, before: SomeConfig, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    const { json } = await call(api, ENDPOINTS.getConfig, UNKNOWN);
    const now = SomeConfig.safeParse(json).data ?? {};
    // Apart: a service that refuses what is read only would refuse all of it.
    for (const fields of [SETTABLE, READ_ONLY]) {
      const changed = changedFields(before, now, fields);
      if (changed.length === 0) continue;
      const old = Object.fromEntries(changed.map((field) => [field, Reflect.get(before, field)]));
      await call(api, ENDPOINTS.setConfig, UNKNOWN, old);
    }
  }
}

async function changeAndBack(subject: Subject, api: Api, change: Change) {
  const before = await readConfig(subject, api);
  const body = change(before.value);
  const hidden = Object.keys(body).find((field) => Reflect.get(before.value, field) === undefined);
  if (hidden !== undefined) skip(`the configuration does not show ${hidden}`);
  await andBack(api, before.value, async () => {
    await act(subject, ENDPOINTS.setConfig, Message, { api, body });
    const after = await readConfig(subject, api);
    for (const [field, value] of Object.entries(body)) {
      const now: unknown = Reflect.get(after.value, field);
      ensure(now === value, `${field} was set to ${String(value)} and reads ${String(now)}`, after.exchange);
    }
    const others = FIELDS.filter((field) => !(field in body));
    sameFields(before.value, after.value, others, after.exchange);
  });
  const last = await readConfig(subject, api);
  sameFields(before.value, last.value, FIELDS, last.exchange);
}

function invalid(id: string, what: string, change: Change): Check {
  return {
    id: `config.invalid.${id}`,
    section: '4.1 (9), 7 (4)',
    title: `${what} is refused with 422`,
    needs: { level: 'safe' },
    run: async (subject) => await refuses(subject, change),
  };
}

/** Refused and without effect. */
async function refuses(subject: Subject, change: Change) {
  const before = await readConfig(subject);
  await andBack(subject.api, before.value, async () => {
    const exchange = await call(subject.api, ENDPOINTS.setConfig, UNKNOWN, change(before.value));
    expectError(exchange, [422], 'v1');
    const after = await readConfig(subject);
    sameFields(before.value, after.value, FIELDS, after.exchange);
  });
}
