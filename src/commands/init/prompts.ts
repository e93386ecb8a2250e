import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { leaveByEscape } from '../../cli/hidden-prompt.ts';

export interface Choice<Value> {
  readonly value: Value;
  readonly name: string;
}

/** Asks the person at the terminal. Rejects with `input.left` (exit 130) when the person leaves. */
export interface Prompts {
  /** Asks for a line; `problem` says why one is not accepted. */
  line(message: string, problem?: (text: string) => string | undefined, byDefault?: string): Promise<string>;
  one<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
  /** Asks for at least one of several; all are marked at first. */
  some<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value[]>;
}

interface Where {
  readonly input: CommandContext['stdin'];
  readonly output: CommandContext['stderr'];
  readonly signal: AbortSignal;
}

/** Questions go to stderr. Escape and Ctrl-C leave; `signal` ends them, too. */
export function promptsOn({ stdin, stderr }: CommandContext, signal: AbortSignal): Prompts {
  const answered = async <Value>(ask: (on: Where) => Promise<Value>): Promise<Value> => {
    const where = (ends: AbortSignal) => ({ input: stdin, output: stderr, signal: ends });
    try {
      return await leaveByEscape(stdin, (ends) => ask(where(ends)), signal);
    } catch (cause) {
      throw left(cause);
    }
  };
  return {
    line: async (message, problem = () => undefined, byDefault) => {
      const { default: input } = await import('@inquirer/input');
      const validate = (text: string) => {
        if (text.trim() === '') return 'type something, or leave with Escape';
        return problem(text.trim()) ?? true;
      };
      const preset = byDefault === undefined ? {} : { default: byDefault };
      return (await answered((on) => input({ message, validate, ...preset }, on))).trim();
    },
    one: async (message, choices) => {
      const { default: select } = await import('@inquirer/select');
      return answered((on) => select({ message, choices, loop: false }, on));
    },
    some: async (message, choices) => {
      const { default: checkbox } = await import('@inquirer/checkbox');
      const marked = choices.map((choice) => ({ ...choice, checked: true }));
      return answered((on) => checkbox({ message, choices: marked, required: true, loop: false }, on));
    },
  };
}

/** The error for a prompt that a person or a signal ended. */
export function left(cause?: unknown): LifeboatError {
  return new LifeboatError('input.left', 'nothing was written', { cause, exitCode: EXIT.interrupted });
}
