/* Named faults that `make mutants` builds one at a time, each of which a named test must kill.
 * Off (0) in every other build, so the compiler removes them. */
#ifndef PHX_MUTANTS_H
#define PHX_MUTANTS_H

#ifndef PHX_MUTANT_SKIPPED_SUMMARY /* a summary word above an index bitmap is not set */
#define PHX_MUTANT_SKIPPED_SUMMARY 0
#endif
#ifndef PHX_MUTANT_WRONG_ANCESTOR /* a placement reports the level below its common domain */
#define PHX_MUTANT_WRONG_ANCESTOR 0
#endif
#ifndef PHX_MUTANT_QUARANTINE_FREED /* leaves a repair leaves behind are free at once */
#define PHX_MUTANT_QUARANTINE_FREED 0
#endif
#ifndef PHX_MUTANT_FOREIGN_SPARE /* a repair opens a spare outside the domain it may use */
#define PHX_MUTANT_FOREIGN_SPARE 0
#endif
#ifndef PHX_MUTANT_OWNER_KEPT /* release keeps the owners of a block */
#define PHX_MUTANT_OWNER_KEPT 0
#endif
#ifndef PHX_MUTANT_PHANTOM_COUNTED /* a phantom serves constraints of its level */
#define PHX_MUTANT_PHANTOM_COUNTED 0
#endif
#ifndef PHX_MUTANT_LAST_TIE /* equal choices go to the last one met, not the lowest address */
#define PHX_MUTANT_LAST_TIE 0
#endif
#ifndef PHX_MUTANT_LIMIT_IGNORED /* limits above the hosts are not applied */
#define PHX_MUTANT_LIMIT_IGNORED 0
#endif
#ifndef PHX_MUTANT_SURVIVOR_MOVED /* a unit moves whole although its own domain has room */
#define PHX_MUTANT_SURVIVOR_MOVED 0
#endif
#ifndef PHX_MUTANT_GROUP_ROUNDING /* free leaves count although they make no whole group */
#define PHX_MUTANT_GROUP_ROUNDING 0
#endif
#ifndef PHX_MUTANT_SLICE_IGNORED /* an inner slice may lie over several domains */
#define PHX_MUTANT_SLICE_IGNORED 0
#endif
#ifndef PHX_MUTANT_SLICE_STRAYS /* a slice in repair leaves the domain of the one around it */
#define PHX_MUTANT_SLICE_STRAYS 0
#endif
#ifndef PHX_MUTANT_UNEVEN /* a spread gang fills one domain after the other */
#define PHX_MUTANT_UNEVEN 0
#endif
#ifndef PHX_MUTANT_PART_UNLIMITED /* a part is not bound by the limits on it alone */
#define PHX_MUTANT_PART_UNLIMITED 0
#endif
#ifndef PHX_MUTANT_JOINT_SKIPPED /* parts that do not fit one after the other are refused */
#define PHX_MUTANT_JOINT_SKIPPED 0
#endif
#ifndef PHX_MUTANT_PART_STRAYS /* a part leaves the level of its own while its ranks live there */
#define PHX_MUTANT_PART_STRAYS 0
#endif
#ifndef PHX_MUTANT_PART_LIMITS_SHARED /* parts with the same rows of limits share them */
#define PHX_MUTANT_PART_LIMITS_SHARED 0
#endif
#ifndef PHX_MUTANT_PARTS_UNCHARGED /* a part's repair leaves others out of the gang's limits */
#define PHX_MUTANT_PARTS_UNCHARGED 0
#endif
#ifndef PHX_MUTANT_PART_FORGOTTEN /* a part's repair takes leaves that one before it took */
#define PHX_MUTANT_PART_FORGOTTEN 0
#endif
#ifndef PHX_MUTANT_PARTS_REORDERED /* ranks are numbered in the order the parts were placed */
#define PHX_MUTANT_PARTS_REORDERED 0
#endif
#ifndef PHX_MUTANT_FINEST_FIRST /* parts that nest are placed the finest first */
#define PHX_MUTANT_FINEST_FIRST 0
#endif
#ifndef PHX_MUTANT_HALL_SKIPPED /* tables take leaves that two kinds share for those of each */
#define PHX_MUTANT_HALL_SKIPPED 0
#endif
#ifndef PHX_MUTANT_DEAL_KEPT /* a search that gives up keeps the leaves it has given */
#define PHX_MUTANT_DEAL_KEPT 0
#endif
#ifndef PHX_MUTANT_LAZY_REFILL /* a spare that was used is not replaced on release */
#define PHX_MUTANT_LAZY_REFILL 0
#endif
#ifndef PHX_MUTANT_CORDON_PLACED /* cordoned leaves are placed on */
#define PHX_MUTANT_CORDON_PLACED 0
#endif
#ifndef PHX_MUTANT_CHOSEN_TWICE /* the dense recurrence lets a job have several choices at once */
#define PHX_MUTANT_CHOSEN_TWICE 0
#endif
#ifndef PHX_MUTANT_NOTHING_SPENT /* walking back, what a job takes is left for the next */
#define PHX_MUTANT_NOTHING_SPENT 0
#endif
#ifndef PHX_MUTANT_LAST_CHOICE /* of equal choices the dense recurrence takes the last */
#define PHX_MUTANT_LAST_CHOICE 0
#endif
#ifndef PHX_MUTANT_FREE_ROW /* a bound by prices leaves out what the last capacity is worth */
#define PHX_MUTANT_FREE_ROW 0
#endif
#ifndef PHX_MUTANT_NARROW_CORE /* an option that loses as much as the core is wide is left out */
#define PHX_MUTANT_NARROW_CORE 0
#endif
#ifndef PHX_MUTANT_NO_GAIN /* at moved prices no job to come gains by another option */
#define PHX_MUTANT_NO_GAIN 0
#endif
#ifndef PHX_MUTANT_OVERFULL /* a change that gains need not fit the last capacity */
#define PHX_MUTANT_OVERFULL 0
#endif
#ifndef PHX_MUTANT_FILLED_FREE /* filling in order, what a job takes is left for the next */
#define PHX_MUTANT_FILLED_FREE 0
#endif
#ifndef PHX_MUTANT_IDLE_KEPT /* a choice is worth what its job has when left out as well */
#define PHX_MUTANT_IDLE_KEPT 0
#endif
#ifndef PHX_MUTANT_HELD_TWICE /* what a job holds wins by more than a tie */
#define PHX_MUTANT_HELD_TWICE 0
#endif
#ifndef PHX_MUTANT_CALLERS_ORDER /* utilities are summed in the order that jobs came in */
#define PHX_MUTANT_CALLERS_ORDER 0
#endif
#ifndef PHX_MUTANT_DEMAND_UNMARKED /* what groups want tells no jobs apart */
#define PHX_MUTANT_DEMAND_UNMARKED 0
#endif
#ifndef PHX_MUTANT_BASE_FREE /* a core leaves what the bases want */
#define PHX_MUTANT_BASE_FREE 0
#endif
#ifndef PHX_MUTANT_FREE_START /* what no multiple of the units sells is not lost */
#define PHX_MUTANT_FREE_START 0
#endif
#ifndef PHX_MUTANT_WIDE_ROW /* amounts that leave 32 bits are cut */
#define PHX_MUTANT_WIDE_ROW 0
#endif
#ifndef PHX_MUTANT_DROPPED_ROW /* an end may want too much of the last capacity */
#define PHX_MUTANT_DROPPED_ROW 0
#endif
#ifndef PHX_MUTANT_FREE_REST /* what an end leaves unsold is not lost */
#define PHX_MUTANT_FREE_REST 0
#endif
#ifndef PHX_MUTANT_LOST_MORE /* a state gives way to one that left as much and lost more */
#define PHX_MUTANT_LOST_MORE 0
#endif
#ifndef PHX_MUTANT_LATE_LAYER /* bounds before a job leave that job out */
#define PHX_MUTANT_LATE_LAYER 0
#endif
#ifndef PHX_MUTANT_WRONG_SIGN /* at moved prices options gain what they lose */
#define PHX_MUTANT_WRONG_SIGN 0
#endif
#ifndef PHX_MUTANT_WRONG_RESIDUE /* an option leaves the residue that there was before it */
#define PHX_MUTANT_WRONG_RESIDUE 0
#endif
#ifndef PHX_MUTANT_BELOW_FREE /* a moved price may fall below 0 */
#define PHX_MUTANT_BELOW_FREE 0
#endif
#ifndef PHX_MUTANT_THINNED_EARLY /* an option with a floor just below the total is taken out */
#define PHX_MUTANT_THINNED_EARLY 0
#endif
#ifndef PHX_MUTANT_BASE_THINNED /* thinning takes a job's base out */
#define PHX_MUTANT_BASE_THINNED 0
#endif
#ifndef PHX_MUTANT_DEALT_BACK /* of jobs that are alike the last takes what is worth most */
#define PHX_MUTANT_DEALT_BACK 0
#endif
#ifndef PHX_MUTANT_DEALT_UNLIKE /* jobs are alike whatever their choices want */
#define PHX_MUTANT_DEALT_UNLIKE 0
#endif
#ifndef PHX_MUTANT_IDLE_UNCOUNTED /* an objective leaves out jobs that have nothing */
#define PHX_MUTANT_IDLE_UNCOUNTED 0
#endif
#ifndef PHX_MUTANT_UNPINNED /* a plan need not keep the live leaves of its job */
#define PHX_MUTANT_UNPINNED 0
#endif
#ifndef PHX_MUTANT_RESTORED_ONCE /* Restore is counted once, whatever its witnesses */
#define PHX_MUTANT_RESTORED_ONCE 0
#endif
#ifndef PHX_MUTANT_STUTTER_UNCOUNTED /* a Seal that changes nothing is not counted */
#define PHX_MUTANT_STUTTER_UNCOUNTED 0
#endif
#ifndef PHX_MUTANT_COLLISION_EQUAL /* states whose slots meet are taken for the same */
#define PHX_MUTANT_COLLISION_EQUAL 0
#endif
#ifndef PHX_MUTANT_UNBOUNDED /* a search takes more bytes than allowed */
#define PHX_MUTANT_UNBOUNDED 0
#endif
#ifndef PHX_MUTANT_LAST_STUCK /* a counterexample is a longest one */
#define PHX_MUTANT_LAST_STUCK 0
#endif
#ifndef PHX_MUTANT_DISABLED_IGNORED /* an action is owed although it is disabled */
#define PHX_MUTANT_DISABLED_IGNORED 0
#endif
#ifndef PHX_MUTANT_SINGLES_IGNORED /* no run stutters for ever */
#define PHX_MUTANT_SINGLES_IGNORED 0
#endif
#ifndef PHX_MUTANT_OWED_IGNORED /* a run may go round for ever whatever is enabled */
#define PHX_MUTANT_OWED_IGNORED 0
#endif

#endif
