/** One at a time, in the order of the calls; a failure does not stop the next. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Shares a task between callers. A call made while it runs shares the next one, begun after the call. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const running = work().finally(() => {
      if (current === running) current = undefined;
    });
    current = running;
    return running;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
