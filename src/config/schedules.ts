import * as z from 'zod';

const when = {
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/u, 'letters, digits, dots, dashes and underscores')
    .describe('unique among the schedules'),
  cron: z
    .string()
    .min(9)
    .max(100)
    .describe('five fields: minute, hour, day of the month, month, day of the week, such as "30 2 * * *"'),
  zone: z.string().min(1).max(60).describe('the time zone that they are read in, such as Europe/Berlin'),
};

const plan = z.string().describe('the plan, by its name');

const Schedule = z.discriminatedUnion(
  'do',
  [
    z.strictObject({
      ...when,
      do: z.literal('evaluate').describe('evaluate every instance and plan, or one plan'),
      plan: plan.optional(),
    }),
    z.strictObject({ ...when, do: z.literal('rehearse').describe('rehearse a plan'), plan }),
    z.strictObject({
      ...when,
      do: z.literal('rotate-due').describe('rotate each key whose cryptoperiod is over'),
      confirm: z
        .literal(true)
        .optional()
        .describe('whether this file confirms each key; without it each rotation waits for its name'),
    }),
    z.strictObject({
      ...when,
      do: z.literal('notify').describe('send what is due, and destroy keys whose time has come'),
    }),
  ],
  'do is evaluate, rehearse, rotate-due or notify',
);

export const SchedulesConfig = z
  .array(Schedule)
  .max(200)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'two schedules have one name')
  .default([])
  .describe('what workers do at a time of the clock: {name, cron, zone, do}');
export type ScheduleConfig = z.infer<typeof SchedulesConfig>[number];
