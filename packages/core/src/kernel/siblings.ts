/**
 * The processes that are one server together: each answers requests at the same address, over the same store. What an operator tells one of them, the others
 * hear. Servers that merely share a store are no siblings: they share what is in the store. Messages are what the structured clone algorithm copies.
 */
export interface Siblings {
  /** Of the server: the same for all its processes, as long as it runs. */
  readonly server: string | undefined;
  /** Which of them this process is, from 1 on; it keeps its number when it is restarted. */
  readonly number: number;
  /** Processes that the server is configured to have, this one included. */
  readonly configured: number;
  /** Those that answer requests now. */
  readonly running: number;
  /** Exactly one of those that run does what the server does once. */
  readonly first: boolean;
  /**
   * Resolves with the answers of the others that answer in time: within 5 seconds by default; milliseconds. One that did not answer a question on the topic in time is not
   * waited for, until it says something. Never rejects.
   */
  ask<Answer = unknown>(topic: string, message?: unknown, within?: number): Promise<readonly Answer[]>;
  /** How this process answers the others: one function for each topic. Where it throws, this process has no answer. */
  answer<Question = unknown>(topic: string, respond: (message: Question) => unknown): void;
  /** Runs work while no other of these processes runs work of that name. */
  inTurn<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Of a server that is one process, as every embedded core is. */
export const alone: Siblings = {
  server: undefined,
  number: 1,
  configured: 1,
  running: 1,
  first: true,
  ask: async () => [],
  answer: () => undefined,
  inTurn: async (_name, work) => work(),
};
