// Every experiment, in the order in which they run.
import type { Experiment } from '../experiment.js';
import { failedAuthentication } from './authentication.js';
import { oneByteChunks, pipelinedGets, slowUploads, unreadAnswers } from './bytes.js';
import { changesInFlight } from './changes-in-flight.js';
import { clockAhead } from './clock-ahead.js';
import { failedCalls } from './failed-calls.js';
import { filterEvaluation, filterEvaluationShared } from './filter-evaluation.js';
import { largeWaitingCall } from './large-waiting-call.js';
import { members } from './members.js';
import { overReportedUsage } from './over-reported-usage.js';
import { ownProviderKeys } from './own-provider-keys.js';
import { destinationConnections, endpointPermits } from './permits.js';
import { interimAnswers, replays, storedContents } from './receivers.js';
import { regexPrograms } from './regex-programs.js';
import { patchStorm, reportStorm, requestRates } from './request-rates.js';
import { foreignGenerations, movedDestination } from './secrets.js';
import { silentNotifications } from './silent-notifications.js';
import { storedRegex } from './stored-regex.js';

export const EXPERIMENTS: readonly Experiment[] = [
  overReportedUsage,
  failedCalls,
  clockAhead,
  largeWaitingCall,
  regexPrograms,
  storedRegex,
  filterEvaluation,
  filterEvaluationShared,
  slowUploads,
  unreadAnswers,
  oneByteChunks,
  pipelinedGets,
  ownProviderKeys,
  requestRates,
  patchStorm,
  reportStorm,
  endpointPermits,
  destinationConnections,
  members,
  interimAnswers,
  replays,
  storedContents,
  failedAuthentication,
  foreignGenerations,
  movedDestination,
  changesInFlight,
  silentNotifications,
];
