import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

export function defineServe(program: Command, command: Define): void {
  command(
    program,
    'serve',
    'show runs, plans and evaluations as read-only pages',
    async () => (await import('./serve.ts')).serve,
    [
      new Option('--listen <where>', 'ADDRESS:PORT or unix:/PATH (default: by the config)'),
      new Option('--mask-names', 'numbers in place of the names of people'),
      new Option('--snapshot <file>', 'write one page into a new file instead'),
      new Option('--page <path>', 'which one, such as /runs/RUN or /runs/last (default: /)'),
    ],
    {
      hasNoForm: true,
      about: `It reads the journal and asks no instance; it opens no key store, and needs no
token. The pages work without JavaScript, and stay fresh with it. Each has a JSON
twin, which --snapshot writes for a name that ends in .json. It answers GET and HEAD alone, to this machine or a socket; elsewhere only to
proxies that serve.trustedProxies names and that say who looks (serve.identity).
Who is refused is told on standard error. SIGTERM ends it, exit code 0.`,
      examples: [
        'lifeboat serve',
        'lifeboat serve --listen unix:/run/lifeboat/page.sock',
        'lifeboat serve --snapshot board.html --mask-names',
        'lifeboat serve --snapshot run.json --page /runs/RUN',
      ],
    },
  );
}
