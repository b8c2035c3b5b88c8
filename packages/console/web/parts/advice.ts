/** What is likely wrong, by what the other side said, and what a person does about it. */
export interface Advice {
  readonly cause: 'credential' | 'unreachable' | 'right' | 'missing' | 'taken' | 'unknown';
  readonly text: string;
}

const RULES: readonly (readonly [said: RegExp, advice: Advice])[] = [
  [
    /managed by|taken over|another manager|adopt=true/i,
    { cause: 'taken', text: 'Somebody else manages the account now. Decide who should, and take it over here if it is this mount.' },
  ],
  [
    /password authentication failed|invalid ?credentials|access denied for user|authentication failed|invalidclienttokenid|signaturedoesnotmatch|data 52e|bad credentials|401/i,
    {
      cause: 'credential',
      text: 'The stored credential is not accepted: somebody changed it outside. Enter the right one in the settings of the system, then try now.',
    },
  ],
  [
    /refused|no answer|timed? ?out|timeout|unreachable|econn|enotfound|eai_again|getaddrinfo|not resolve|circuit breaker|terminated|the database system is (starting|shutting)|socket|closed|down/i,
    {
      cause: 'unreachable',
      text: 'Nobody answers there. See that the system runs, and that its address is right; what waits for it is tried again as soon as it answers.',
    },
  ],
  [
    /permission denied|not authorized|insufficient|privilege|accessdenied|forbidden|must be (owner|superuser)|403/i,
    { cause: 'right', text: 'The credential works, but may not do this. Give its account the right that the sentence names.' },
  ],
  [
    /does not exist|no such|not found|nosuchentity|unknown (user|role)|404/i,
    { cause: 'missing', text: 'What should be changed is not there. Make it again outside, or delete the role here.' },
  ],
];

/** The first rule that fits what was said. */
export function adviceFor(message: string): Advice {
  const found = RULES.find(([said]) => said.test(message));
  return (
    found?.[1] ?? { cause: 'unknown', text: 'The sentence above is all that is known. Look at the settings of the system, then try now.' }
  );
}
