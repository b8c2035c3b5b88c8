import { createCore, type Core, type CoreOptions } from '@strongroom/core';
import { AnswerCheck } from './answer-check.ts';

/** A core whose `handle` throws when an operation answered otherwise than it declares. */
export async function checkedCore(options: CoreOptions): Promise<Core> {
  const check = new AnswerCheck();
  const core = await createCore({
    ...options,
    onAnswer: (answered) => {
      check.onAnswer(answered);
      options.onAnswer?.(answered);
    },
  });
  const handle = core.handle.bind(core);
  core.handle = async (request) => {
    const answer = await handle(request);
    check.require();
    return answer;
  };
  return core;
}
