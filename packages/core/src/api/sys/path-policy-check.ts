import { f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { checkPolicy } from '../../services/policies/policy-check.ts';

/** Most complaints of one answer. */
const LIMIT = 200;

const Check = Type.Object({
  valid: Type.Boolean({ description: 'Whether a write would accept the policy.' }),
  complaints: Type.Array(
    Type.Object({
      severity: Type.Enum(['error', 'warning', 'info'], {
        description: 'error: the policy cannot be written. warning: a part of it has no effect. info: it may not mean what it seems to.',
      }),
      line: Type.Integer({ description: 'In the decoded text, from 1.' }),
      column: Type.Integer(),
      message: Type.String(),
    }),
  ),
  left_out: Type.Optional(Type.Integer({ description: 'How many further problems there are.' })),
});

/** `sys/policies/check`: what is wrong with a policy before it is written. */
export function policyCheckPath(): AnyPath {
  return path('policies/check', {
    synopsis: 'What is wrong with a policy.',
    description: 'Reads a policy and returns the problems with line and column. Nothing is written.',
    fields: { policy: f.string('The rules: HCL, JSON, or base64 of either.', { required: true }) },
  }).update({
    summary: 'Checks a policy.',
    response: Check,
    handle: async ({ data }) => {
      const { valid, complaints } = checkPolicy(data.policy);
      const shown = complaints.slice(0, LIMIT);
      return { data: { valid, complaints: shown, ...(complaints.length > LIMIT ? { left_out: complaints.length - LIMIT } : {}) } };
    },
  });
}
