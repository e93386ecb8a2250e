/** One sample of the text format of Prometheus. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LINE = /^(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(?<name>[a-zA-Z_][a-zA-Z0-9_]*)="(?<value>(?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/**
 * Reads the text format 0.0.4 as strictly as the textfile collector does, and a little more: HELP and TYPE
 * come once, before the samples of their metric, which stand together; no sample comes twice; none has a
 * timestamp.
 */
export function parseMetrics(text: string): readonly Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const samples: Sample[] = [];
  const metrics = new Set<string>();
  const seen = new Set<string>();
  let helped: string | undefined;
  let typed: string | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (!NAME.test(name) || metrics.has(name)) throw new Error(`twice or misnamed: ${line}`);
      metrics.add(name);
      helped = name;
    } else if (kind === 'TYPE') {
      if (name !== helped || rest !== 'gauge') throw new Error(`out of place: ${line}`);
      typed = name;
    } else {
      const sample = sampleIn(line);
      if (sample.name !== typed) throw new Error(`out of place: ${line}`);
      const identity = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(identity)) throw new Error(`twice: ${line}`);
      seen.add(identity);
      samples.push(sample);
    }
  }
  return samples;
}

function sampleIn(line: string): Sample {
  const { name = '', labels = '', value = '' } = LINE.exec(line)?.groups ?? {};
  const number = Number(value);
  if (name === '' || !Number.isFinite(number)) throw new Error(`no sample: ${line}`);
  const found: Record<string, string> = {};
  for (LABEL.lastIndex = 0; LABEL.lastIndex < labels.length; ) {
    const groups = LABEL.exec(labels)?.groups;
    if (groups === undefined) throw new Error(`no labels: ${line}`);
    found[groups['name'] ?? ''] = groups['value'] ?? '';
  }
  return { name, labels: found, value: number };
}
