import { show } from '../text.ts';
import type { Anchor } from './anchor.ts';
import type { Audit } from './audit-report.ts';

export interface AnchorCheck {
  /** Is fed the entries of the anchor's stream. */
  take(entry: { readonly stream: string; readonly seq: number; readonly hash: string }): void;
  /** Called when all were seen. */
  finish(): void;
}

/** Compares a stream with what an anchor from elsewhere says of it: the only thing that betrays a journal that was rolled back as a whole. */
export function anchorCheck(anchor: Anchor | undefined, audit: Audit): AnchorCheck {
  let last = 0;
  let met = false;
  return {
    take({ stream, seq, hash }) {
      if (stream !== anchor?.stream) return;
      last = seq;
      if (seq !== anchor.seq) return;
      met = true;
      if (hash.startsWith(anchor.hash)) return;
      const message = `entry ${seq} is not the one of the anchor: the record was rewritten`;
      audit.problem('anchor.rewritten', message, { stream, seq });
    },
    finish() {
      if (anchor === undefined || met) return;
      const name = show(anchor.stream, 120);
      const message =
        last === 0
          ? `the anchor is of ${name}, which is not here`
          : `${name} ends at entry ${last}, but the anchor saw entry ${anchor.seq}: it was cut or rolled back`;
      audit.problem('anchor.missing', message, { stream: name, seq: last });
    },
  };
}
