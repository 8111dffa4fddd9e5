// The result of an experiment of one tenant against others, or against the operator.
import type { ScenarioContext } from '../replicas/scenario.js';

export interface Build {
  /** A checkout with a dist. */
  readonly root: string;
  /** Part of the names of its databases. */
  readonly label: string;
}

export interface ExperimentResult {
  /** In their order, with their units. */
  readonly figures: Readonly<Record<string, string>>;
  /** Which rules did not hold, in words; empty: the attack is harmless. */
  readonly problems: readonly string[];
}

export interface Experiment {
  /** For `--only`, and of the database: letters and hyphens. */
  readonly name: string;
  /** The attack and the required result. */
  readonly title: string;
  run(context: ScenarioContext, build: Build): Promise<ExperimentResult>;
}

export const milliseconds = (value: number): string =>
  value >= 1_000 ? `${(value / 1_000).toFixed(1)} s` : `${Math.round(value)} ms`;
export const usd = (value: number): string => `${Number(value.toPrecision(4))} USD`;

/** The texts of the rules that do not hold. */
export function brokenRules(...rules: readonly (readonly [isBroken: boolean, text: string])[]): string[] {
  return rules.filter(([isBroken]) => isBroken).map(([, text]) => text);
}
