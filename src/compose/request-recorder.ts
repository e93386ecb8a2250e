import type { HttpCall } from '../audit/transcript/line.ts';
import type { Transcript } from '../audit/transcript/transcript.ts';
import { counted } from '../base/format.ts';
import { redact } from '../base/redact.ts';
import { Secret } from '../base/secret.ts';
import type { Note } from '../runner/performed.ts';
import type { Tap } from '../service/interceptors.ts';

/** Receives every request of a process and writes them to the transcript of its run once that is known. */
export interface RequestRecorder {
  service(instance: string): Tap;
  readonly platform: Tap;
  /** Begins to write, starting with what was received before. Only for the process that holds the run. */
  start(options: RecorderOptions): Promise<void>;
  /** A secret that is in hand, under its fingerprint. */
  know(secret: Secret, fingerprint: string): void;
  /** A text without the known secrets. */
  blank(text: string): string;
  /** The transcript's reach, for the record; empty if nothing was sent. `isOver` closes it. */
  notes(isOver?: boolean): readonly Note[];
  /** Warnings to print after the screen has closed. */
  warnings(): readonly string[];
  close(): void;
}

interface RecorderOptions {
  readonly home: string;
  readonly runId: string;
  readonly fingerprint: (secret: Secret) => Promise<string>;
}

/** The maximum held while the run is unknown; a run that never begins has no transcript. */
const MAX_WAITING = 200;

export function openRequestRecorder(): RequestRecorder {
  const waiting: HttpCall[] = [];
  const known = new Map<string, string>();
  let transcript: Transcript | undefined;
  let fingerprint: RecorderOptions['fingerprint'] | undefined;
  let writing = false;
  let ended = false;
  let lost = 0;

  const hear = (call: HttpCall) => {
    if (ended) return;
    if (waiting.length < MAX_WAITING) waiting.push(call);
    else lost += 1;
    void write();
  };

  /** Without a new secret, all of it happens before this returns to the caller. */
  async function write(): Promise<void> {
    if (transcript === undefined || writing || ended) return;
    writing = true;
    for (let call = waiting[0]; call !== undefined; call = waiting[0]) {
      if (!isNamed(call)) await nameSecrets(call);
      if (ended) return;
      transcript.write(call);
      waiting.shift();
    }
    writing = false;
  }

  function isNamed(call: HttpCall): boolean {
    return [...call.secrets, ...call.hidden, ...cookiesOf(call)].every((secret) =>
      known.has(secret.reveal()),
    );
  }

  /** Only secrets sent to an instance can be keys, which have fingerprints. */
  async function nameSecrets(call: HttpCall): Promise<void> {
    for (const secret of [...call.hidden, ...cookiesOf(call)])
      if (!known.has(secret.reveal())) name(secret, undefined);
    for (const secret of call.secrets) {
      if (known.has(secret.reveal())) continue;
      const print = call.kind === 'service' ? await fingerprint?.(secret).catch(() => undefined) : undefined;
      name(secret, print);
    }
  }

  function name(secret: Secret, print: string | undefined): void {
    known.set(secret.reveal(), print ?? '');
    transcript?.guard(secret, print === undefined ? undefined : `fingerprint:${print}`);
  }

  return {
    service: (to) => (heard) => hear({ kind: 'service', to, ...heard }),
    platform: (heard) => hear({ kind: 'platform', to: 'platform', ...heard }),
    async start(options) {
      const { openTranscript } = await import('../audit/transcript/transcript.ts');
      fingerprint = options.fingerprint;
      transcript = openTranscript(options.home, options.runId);
      for (const [text, print] of known) name(new Secret(text), print === '' ? undefined : print);
      void write();
    },
    know: name,
    blank: (text) =>
      redact(
        text,
        [...known.keys()].map((secret) => new Secret(secret)),
      ),
    notes(isOver = false) {
      ended ||= isOver;
      if (transcript === undefined) return [];
      // Lines that wait for the name of a secret are written without it: this is the end.
      if (isOver) for (const call of waiting.splice(0)) transcript.write(call);
      const { lines, bytes, sha256 } = transcript.keep();
      const problem = transcript.problem?.shortMessage;
      if (lines === 0 && problem === undefined) return [];
      return [
        {
          type: 'transcript.kept',
          body: { lines, bytes, sha256, ...(problem === undefined ? {} : { problem }) },
        },
      ];
    },
    warnings() {
      const forgotten =
        lost === 0 ? [] : [`${counted(lost, 'request is', 'requests are')} missing in the transcript`];
      const problem = transcript?.problem;
      return problem === undefined ? forgotten : [problem.shortMessage, ...forgotten];
    },
    close: () => transcript?.close(),
  };
}

/** A session's cookies are as powerful as its token. */
function cookiesOf({ headers }: HttpCall): readonly Secret[] {
  const { cookie } = headers;
  return typeof cookie === 'string' && cookie !== '' ? [new Secret(cookie)] : [];
}
