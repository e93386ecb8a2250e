import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { builtProduct, runProduct } from '../bench-kit/product.ts';
import { answerIn, itemsIn } from '../bench-kit/results.ts';
import { commandsIn } from './commands-in.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What was done so far, for the words that a reader puts in place of those in capitals. */
interface Session {
  readonly bench: LabBench;
  readonly folder: string;
}

/** A command as the documents print it. */
interface Step {
  readonly text: string;
  /** How it ends without a terminal; 3: it stops at its first question. */
  readonly code: number;
  /** What a reader types in place of some of its words. */
  readonly put: (session: Session) => Promise<Readonly<Record<string, string>>>;
}

const nothing: Step['put'] = async () => ({});
const step = (text: string, code = 0, put = nothing): Step => ({ text, code, put });
const printed = async ({ bench }: Session, ...args: string[]) => (await bench.run(...args, '--json')).stdout;

const newestBackup: Step['put'] = async (session) => ({
  7: `${answerIn(await printed(session, 'backups', 'list', 'orders'))[0].id}`,
});
const heldKey: Step['put'] = async (session) => ({
  FINGERPRINT: itemsIn<{ fingerprint: string }>(await printed(session, 'keys', 'list'))[0]?.fingerprint ?? '',
});
const newestRun: Step['put'] = async (session) => ({
  RUN: itemsIn<{ runId: string }>(await printed(session, 'runs'))[0]?.runId ?? '',
});
const openRun: Step['put'] = async (session) => ({
  RUN: itemsIn<{ runId: string }>(await printed(session, 'runs', '--open'))[0]?.runId ?? '',
});
const followUp: Step['put'] = async (session) => ({
  ID: itemsIn<{ id: string }>(await printed(session, 'followups'))[0]?.id ?? '',
  TEXT: 'seen by a reader',
});

/** What a reader does who only looked at the first question. */
const LEAVE = step('lifeboat resume last --abandon looked');

/** The commands in the order in which a reader can give them, who goes through the pages with a lab. */
const SESSION: readonly Step[] = [
  step('lifeboat version'),
  step('lifeboat doctor'),
  step('lifeboat doctor --deep'),
  step('lifeboat doctor --rebuild'),
  step('lifeboat completion bash'),
  step('lifeboat schema'),
  step('lifeboat schema NAME', 0, async () => ({ NAME: 'status' })),
  step(
    "lifeboat init --url URL --name orders --token-command 'cf oauth-token' --print",
    0,
    async ({ bench }) => ({
      URL: configValue(bench, 'url'),
      'cf oauth-token': `cat ${configValue(bench, 'file')}`,
    }),
  ),
  step('lifeboat schema config'),
  step('lifeboat schema notification'),
  step('lifeboat schema plan'),
  step('lifeboat schema evaluations'),
  step('lifeboat lab --help'),
  step('lifeboat lab --scenario list'),
  step('lifeboat keys list'),
  step('lifeboat keys add INSTANCE --as FINGERPRINT --file FILE', 0, async (session) => ({
    INSTANCE: 'orders',
    ...(await heldKey(session)),
    FILE: session.bench.lab.instances.find(({ name }) => name === 'orders')?.keyFile ?? '',
  })),
  step('lifeboat keys show orders'),
  step('lifeboat keys identity'),
  step('lifeboat status', 1),
  step('lifeboat status -o json', 1),
  step('lifeboat plans evaluate', 1),
  step('lifeboat plans evaluate -i orders', 1),
  step('lifeboat plans evaluate -o json', 1),
  step('lifeboat backups create orders --yes --wait'),
  step('lifeboat backups list orders --json'),
  step('lifeboat keys fit orders'),
  step('lifeboat keys may-destroy FINGERPRINT --instance orders', 1, heldKey),
  step('lifeboat backups download 7 -i orders --out orders.backup', 0, newestBackup),
  step('lifeboat verify orders.backup -i orders'),
  step('lifeboat verify FILE --instance NAME', 0, async ({ folder }) => ({
    FILE: join(folder, 'orders.backup'),
    NAME: 'orders',
  })),
  step('lifeboat run back-up-and-verify --instance orders'),
  step('lifeboat run back-up-and-verify', 2),
  step('lifeboat run back-up-and-verify --instance orders --yes'),
  step('lifeboat run disaster-recovery --prepare --instance orders', 3),
  LEAVE,
  step('lifeboat run disaster-recovery --instance orders --prepare --yes'),
  step('lifeboat run rotate-key --instance orders', 3),
  LEAVE,
  step('lifeboat run rotate-key --instance orders --yes --confirm orders'),
  step('lifeboat followups', 3),
  step('lifeboat followups run ID', 2, followUp),
  step('lifeboat followups done ID --proof TEXT', 0, followUp),
  step('lifeboat run rotate-key --instance orders --yes --confirm orders'),
  step('lifeboat followups skip ID --reason TEXT', 0, followUp),
  step('lifeboat run change-instance --instance orders --action restart', 3),
  LEAVE,
  step('lifeboat run change-instance --instance orders --action restart --yes --confirm orders'),
  step('lifeboat run restore-backup --instance orders --dry-run'),
  step('lifeboat run restore-backup --instance orders', 3),
  step('lifeboat runs --open'),
  step('lifeboat runs --open -o yaml'),
  step('lifeboat resume', 3),
  step('lifeboat resume RUN --look', 0, openRun),
  LEAVE,
  step('lifeboat run restore-backup --instance orders --backup 7 --yes --confirm orders', 0, newestBackup),
  step('lifeboat runs --in-doubt'),
  step('lifeboat resume RUN', 2, newestRun),
  step('lifeboat resume RUN --became ID --reason TEXT', 2, newestRun),
  step(
    'lifeboat backups restore 7 -i orders --confirm orders --wait --no-follow-ups "our pipeline binds them"',
    0,
    newestBackup,
  ),
  step('lifeboat runs --limit 1'),
  step('lifeboat run restore-point-in-time --instance orders', 3),
  LEAVE,
  step(
    'lifeboat run restore-point-in-time --instance orders --to "10 minutes ago" --yes --confirm orders',
    3,
  ),
  LEAVE,
  step('lifeboat run disaster-recovery --perform', 2),
  step('lifeboat run disaster-recovery --instance orders --target orders-dr --perform', 3),
  LEAVE,
  step(
    'lifeboat run disaster-recovery --instance orders --target orders-dr --perform --yes --confirm orders-dr',
    3,
  ),
  step('lifeboat report last'),
  step('lifeboat report last --format html --out report.html'),
  step('lifeboat report RUN', 0, newestRun),
  step('lifeboat report --compare RUN RUN', 0, newestRun),
  step('lifeboat report --all'),
  step('lifeboat audit show'),
  step('lifeboat audit show -i orders'),
  step('lifeboat audit show --instance NAME', 0, async () => ({ NAME: 'orders' })),
  step('lifeboat audit anchor'),
  step('lifeboat audit verify --anchor ANCHOR', 0, async ({ bench }) => ({
    ANCHOR: (await bench.good('audit', 'anchor')).trim(),
  })),
  step('lifeboat audit key'),
  step('lifeboat audit verify docs/samples/bundle.tar --public-key docs/samples/lifeboat.pub'),
  step('lifeboat audit verify'),
  step('lifeboat audit accept-loss --reason TEXT'),
  step('lifeboat approvals'),
  step('lifeboat store status'),
  step('lifeboat runs --drills'),
  step('lifeboat prune --older-than 90d'),
  step('lifeboat prune --older-than 90d --drills --yes'),
];

/** Each takes a drill's time, and a home of its own. */
const DRILLS: readonly Step[] = [
  step('lifeboat drill disaster-recovery'),
  step('lifeboat drill restore-backup --scenario lost-answers'),
];

/** Those that need a terminal, a second person, a database or a signal: the tests that give these. */
const ELSEWHERE: Readonly<Record<string, readonly [file: string, words: string]>> = {
  'lifeboat drill': ['test/e2e/drill-screen.long.test.ts', "'drill'"],
  'lifeboat run disaster-recovery orders --prepare': ['test/plans/plan-bench.ts', "name, '--prepare'"],
  'lifeboat drill --auto --keep 12': ['test/e2e/drill.long.test.ts', "'--keep', '12'"],
  'lifeboat drill --auto --junit drill.xml': ['test/e2e/drill.long.test.ts', "'--junit'"],
  'lifeboat drill --auto --report ./evidence --json': ['test/e2e/drill.long.test.ts', "'--report'"],
  'lifeboat lab': ['test/e2e/signals-lab.long.test.ts', "'lab'"],
  'lifeboat lab --out lifeboat.yaml': ['test/e2e/signals-lab.long.test.ts', "'lab', '--out'"],
  'lifeboat report --all --since 90d --format html --out quarter.html': [
    'test/e2e/report-all.test.ts',
    "'report', '--all', '--format', 'html', '--out'",
  ],
  'lifeboat lab --scenario storm': ['test/e2e/signals-lab.long.test.ts', "'lab'"],
  'lifeboat init': ['test/e2e/init.test.ts', "['init', "],
  'lifeboat init --yes': ['test/e2e/init.test.ts', "'init', '--yes'"],
  'lifeboat init --url URL --name orders --token-file ./token': ['test/e2e/init.test.ts', "'--token-file'"],
  'lifeboat followups run ID --again': ['test/e2e/reconnect.test.ts', "'--again'"],
  'lifeboat notify send': ['test/e2e/notify.test.ts', "'notify', 'send'"],
  'lifeboat notify send --all': ['test/e2e/notify.test.ts', "'notify', 'send', '--all'"],
  'lifeboat notify test': ['test/e2e/notify.test.ts', "'notify', 'test'"],
  'lifeboat notify test on-call': ['test/e2e/notify.test.ts', "'notify', 'test'"],
  'lifeboat keys add': ['test/e2e/prompt.test.ts', "'keys', 'add', 'orders'"],
  'lifeboat keys add orders': ['test/e2e/prompt.test.ts', "'keys', 'add', 'orders'"],
  'lifeboat keys add orders --check': ['test/e2e/keys-kept.test.ts', "'--check'"],
  'lifeboat keys add --folder ./keys': ['test/e2e/keys-folder.test.ts', "'keys', 'add', '--folder'"],
  'lifeboat keys add NAME --token': ['test/e2e/prompt.test.ts', "'keys', 'add', 'orders', '--token'"],
  'lifeboat keys retire FINGERPRINT --instance orders --reason TEXT': [
    'test/e2e/keys-fit.test.ts',
    "'keys', 'retire'",
  ],
  'lifeboat keys destroy FINGERPRINT --instance orders --in 30d': [
    'test/e2e/keys-fit.test.ts',
    "'keys', 'destroy'",
  ],
  'lifeboat keys split --shares 5 --threshold 3 --paper --out ./shares': [
    'test/e2e/keys-moved.test.ts',
    "'keys', 'split', '--out'",
  ],
  'lifeboat keys join keys.age SHARE SHARE SHARE': ['test/e2e/keys-moved.test.ts', "'keys', 'join'"],
  'lifeboat keys export FILE --to RECIPIENT': ['test/e2e/keys-moved.test.ts', "'keys', 'export'"],
  'lifeboat keys import FILE': ['test/e2e/keys-moved.test.ts', "'keys', 'import'"],
  'lifeboat keys passphrase': ['test/e2e/keys-moved.test.ts', "'keys', 'passphrase'"],
  'lifeboat run rotate-key --all-due': ['test/e2e/key-ends.test.ts', "'rotate-key', '--all-due'"],
  'lifeboat keys escrow check': ['test/e2e/escrow.test.ts', "'keys', 'escrow', 'check'"],
  'lifeboat keys escrow prove': ['test/e2e/escrow.test.ts', "'keys', 'escrow', 'prove'"],
  'lifeboat keys escrow update': ['test/e2e/escrow.test.ts', "'keys', 'escrow', 'update'"],
  'lifeboat keys escrow add RECIPIENT --name NAME': ['test/e2e/escrow.test.ts', "'escrow', 'add'"],
  'lifeboat keys escrow remove RECIPIENT': ['test/e2e/escrow.test.ts', "'escrow', 'remove'"],
  'lifeboat keys escrow open --from ./escrow --identity FILE': ['test/e2e/escrow.test.ts', "'--from'"],
  'lifeboat approve --print-key NAME': [
    'test/e2e/approvals-refused.long.test.ts',
    "'approve', '--print-key'",
  ],
  'lifeboat approve CHALLENGE.txt --key ~/.ssh/id_ed25519': [
    'test/e2e/approvals-bound.long.test.ts',
    "'--key'",
  ],
  'lifeboat approvals accept RUN CHALLENGE.txt.sig': [
    'test/e2e/approvals-bound.long.test.ts',
    "'approvals', 'accept'",
  ],
  'lifeboat approvals withdraw RUN --reason TEXT': [
    'test/e2e/approvals-refused.long.test.ts',
    "'approvals', 'withdraw'",
  ],
  'lifeboat report RUN --format html --out ./record': [
    'test/e2e/plan-record.test.ts',
    "'--format', 'html', '--out', pages",
  ],
  'lifeboat drill --plan': ['test/e2e/drill-plan.long.test.ts', "'drill', '--plan'"],
  'lifeboat drill --plan --auto': ['test/e2e/drill-plan.long.test.ts', "'drill', '--plan', '--auto'"],
  'lifeboat plans init region-west': ['test/e2e/schemas.long.test.ts', "'plans', 'init', 'first'"],
  'lifeboat plans evaluate region-west': ['test/e2e/plans.test.ts', "'plans', 'evaluate', 'west'"],
  'lifeboat plans check region-west': ['test/e2e/schemas.long.test.ts', "'plans', 'check', 'west'"],
  'lifeboat plans list': ['test/e2e/schemas.long.test.ts', "'plans', 'list'"],
  'lifeboat plans run region-west': ['test/e2e/plans.test.ts', "'plans', 'run', 'west'"],
  'lifeboat plans run PLAN': ['test/e2e/plans.test.ts', "'plans', 'run', 'west'"],
  'lifeboat plans run region-west --confirm data --detach': [
    'test/e2e/worker.long.test.ts',
    "'plans', 'run', 'west', '--confirm', 'data', '--detach'",
  ],
  'lifeboat lab --simulated 10000 --faults fail=1%,lost=1%,late=0.1% --task-time 1s-5s --out lifeboat.yaml': [
    'test/e2e/simulated-lab.test.ts',
    "'lab', '--simulated', '3', '--faults', shares, '--task-time'",
  ],
  'lifeboat evidence': ['test/e2e/evidence.test.ts', "'evidence', '--out', halfYear"],
  'lifeboat evidence --from 2026-01-01 --to 2026-06-30': [
    'test/e2e/evidence.test.ts',
    "'--to', '2020-06-30'",
  ],
  'lifeboat evidence --from 2026-01-01 -i orders --plan west --out orders.tar --receipts': [
    'test/e2e/evidence.test.ts',
    "'-i', 'db-1', '--plan', 'west', '--out', part, '--receipts'",
  ],
  'lifeboat audit verify lifeboat-evidence-2026-01-01-2026-06-30 --public-key key.pem': [
    'test/e2e/evidence.test.ts',
    "'audit', 'verify', out, '--public-key'",
  ],
  'lifeboat audit verify lifeboat-evidence-2026-01-01-2026-06-30 --receipts lifeboat-evidence-2026-01-01-2026-06-30/runs':
    ['test/e2e/evidence.test.ts', "'audit', 'verify', pack, ...words"],
  'lifeboat receipt last': ['test/e2e/receipts.test.ts', "'receipt', 'last', '--out'"],
  'lifeboat receipt last --out orders-drill': ['test/e2e/receipts.test.ts', "'receipt', 'last', '--out'"],
  'lifeboat receipt --evaluation orders': [
    'test/e2e/receipts.test.ts',
    "'receipt', '--evaluation', 'orders'",
  ],
  'lifeboat receipt --evaluation --out estate': [
    'test/e2e/receipts.test.ts',
    "'receipt', '--evaluation', '--out'",
  ],
  'lifeboat receipt RUN --out west-drill': ['test/e2e/plan-record.test.ts', "'receipt', first, '--out'"],
  'lifeboat audit verify --receipts orders-drill': [
    'test/e2e/receipts.test.ts',
    "'audit', 'verify', '--receipts'",
  ],
  'lifeboat audit verify lifeboat-01K....tar --receipts receipts --public-key key.pem': [
    'test/e2e/receipts.test.ts',
    "'audit', 'verify', bundle, '--receipts'",
  ],
  'lifeboat audit key --receipts': ['test/e2e/receipts.test.ts', "'audit', 'key', '--receipts'"],
  'lifeboat report --format json': ['test/e2e/report.long.test.ts', "'report', id, '--format', 'json'"],
  'lifeboat serve': ['test/e2e/serve.test.ts', "start('serve'"],
  'lifeboat serve --listen unix:/run/lifeboat/page.sock': ['test/serve/gate.test.ts', "kind: 'unix', path"],
  'lifeboat serve --snapshot board.html': ['test/e2e/serve.test.ts', "'serve', '--snapshot', html"],
  'lifeboat serve --snapshot run.html --page /runs/RUN': ['test/e2e/serve.test.ts', "'--page'"],
  'lifeboat serve --snapshot run.json --page /runs/RUN': [
    'test/e2e/serve.test.ts',
    "'serve', '--snapshot', json",
  ],
  'lifeboat workers': ['test/e2e/worker.long.test.ts', "'workers', '--json'"],
  'lifeboat schedules': ['test/e2e/worker.long.test.ts', "'schedules', '--json'"],
  'lifeboat worker': ['test/e2e/workers.ts', "start('worker'"],
  'lifeboat plans run region-west --rehearsal': [
    'test/e2e/plans.test.ts',
    "'plans', 'run', 'west', '--rehearsal'",
  ],
  'lifeboat plans show RUN': ['test/e2e/plans.test.ts', "'plans', 'show'"],
  'lifeboat watch RUN': ['test/e2e/plan-watched.test.ts', "['watch']"],
  'lifeboat plans pause RUN GROUP --reason TEXT': ['test/e2e/schemas.long.test.ts', "'plans', 'pause'"],
  'lifeboat plans resume RUN GROUP': ['test/e2e/schemas.long.test.ts', "'plans', 'resume'"],
  'lifeboat plans stop RUN [GROUP] --reason TEXT': ['test/e2e/schemas.long.test.ts', "'plans', 'stop'"],
  'lifeboat plans retry RUN': ['test/e2e/plans.test.ts', "'plans', 'retry', 'last')"],
  'lifeboat plans retry RUN GROUP/INSTANCE/STEP': ['test/e2e/schemas.long.test.ts', "'plans', 'retry'"],
  'lifeboat plans skip RUN GROUP/INSTANCE/STEP --reason TEXT': [
    'test/e2e/schemas.long.test.ts',
    "'plans', 'skip'",
  ],
  'lifeboat plans done RUN GROUP/INSTANCE/STEP --proof TEXT': ['test/e2e/plans.test.ts', "'plans', 'done'"],
  'lifeboat plans take-out RUN GROUP/INSTANCE --reason TEXT': [
    'test/e2e/plans.test.ts',
    "'plans', 'take-out'",
  ],
  'lifeboat plans take-up RUN GROUP/INSTANCE': ['test/e2e/schemas.long.test.ts', "'plans', 'take-up'"],
  'lifeboat plans source RUN down': ['test/e2e/schemas.long.test.ts', "'plans', 'source'"],
  'lifeboat plans fallback RUN': ['test/e2e/plan-record.test.ts', "'plans', 'fallback'"],
  'lifeboat audit export RUN': ['test/e2e/bundle.long.test.ts', "'audit', 'export'"],
  'lifeboat audit verify BUNDLE': ['test/e2e/bundle.long.test.ts', "'audit', 'verify'"],
  'lifeboat store init': ['test/e2e/store.long.test.ts', "'store', 'init'"],
  'lifeboat store migrate': ['test/e2e/store.long.test.ts', "'store', 'migrate'"],
  'lifeboat store copy': ['test/e2e/store.long.test.ts', "'store', 'copy'"],
  'lifeboat store copy --from sqlite --to postgres://db.example.com/lifeboat': [
    'test/e2e/store.long.test.ts',
    "'store', 'copy', '--from', 'sqlite', '--to'",
  ],
  'lifeboat store endorse INSTALLATION --reason "compared by telephone"': ['test/team/team.ts', "'endorse'"],
};

describe('the pages', () => {
  const newLab = useLabs();

  test('say of each command how it ends, as tried one after the other on one lab', {
    timeout: 3_000_000,
  }, async (context) => {
    const bench = await newLab(context);
    const session = { bench, folder: join(bench.home, '..') };
    for (const one of SESSION) await take(one, session);
  });
});

test.each(DRILLS)('$text is proven', { timeout: 1_800_000 }, async (drill) => {
  const product = builtProduct({ cheapVault: true });
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-docs-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const ended = await runProduct(product, argv(drill.text, {}, home), { HOME: home, TMPDIR: tmpdir() }).ended;
  expect(ended.code, ended.stderr).toBe(0);
});

/** Lists of all commands and of all errors. */
const GENERATED: ReadonlySet<string> = new Set(['commands.md', 'error-codes.md']);

test('every command on the pages is run by a test, and every command of the test is on a page', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter(
    (file) => file.endsWith('.md') && !GENERATED.has(file),
  );
  const named = ['README.md', ...pages.map((file) => `docs/${file}`)].flatMap((file) =>
    commandsIn(readFileSync(join(ROOT, file), 'utf8')).map(({ text }) => text.replaceAll(/ +/gu, ' ')),
  );
  const ran = [...[...SESSION, ...DRILLS].map(({ text }) => text), ...Object.keys(ELSEWHERE)];
  const isOnPages = (text: string) =>
    text !== LEAVE.text && text !== 'lifeboat --' && text !== 'lifeboat verify';
  expect(new Set(ran.filter(isOnPages))).toEqual(new Set(named.filter(isOnPages)));
  for (const [file, words] of Object.values(ELSEWHERE))
    expect(readFileSync(join(ROOT, file), 'utf8'), file).toContain(words);
});

async function take({ text, code, put }: Step, session: Session): Promise<void> {
  const ended = await session.bench.run(...argv(text, await put(session), session.folder));
  expect(ended.code, `${text}: ${ended.stderr}`).toBe(code);
}

/** The words of a command; files lie in the folder of the session. */
function argv(text: string, put: Readonly<Record<string, string>>, folder: string): string[] {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/gu)].map(
    ([, ...forms]) => forms.find(Boolean) ?? '',
  );
  const isFile = (word: string) => /\.(?:backup|html)$/u.test(word);
  return words.slice(1).map((word) => put[word] ?? (isFile(word) ? join(folder, word) : word));
}

/** What the config of the lab says first under this key. */
function configValue({ env }: LabBench, key: 'url' | 'file'): string {
  const text = readFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'utf8');
  return new RegExp(`^ {4}.*${key}: "?([^"\\s}]+)`, 'mu').exec(text)?.[1] ?? '';
}
