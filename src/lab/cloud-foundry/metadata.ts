import { z } from 'zod';

const MOST = 50;

const Label = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?$/u,
    'label value is no label: letters, digits, -_. and 63 at most',
  );
const LabelKey = z.string().regex(/^[A-Za-z0-9](?:[\w./-]{0,253}[A-Za-z0-9])?$/u, 'label key is no key');
const few = (values: object) => Object.keys(values).length <= MOST;

/** Labels, which can be selected by, and annotations, which cannot. */
export const Metadata = z
  .object({
    labels: z.record(LabelKey, Label).refine(few, 'too many labels').default({}),
    annotations: z.record(LabelKey, z.string().max(5000)).refine(few, 'too many annotations').default({}),
  })
  .default({ labels: {}, annotations: {} });
export type Metadata = z.output<typeof Metadata>;

export const NO_METADATA: Metadata = { labels: {}, annotations: {} };

/** A time as the platform tells it: in whole seconds. */
export function stamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
