------------------------------- MODULE Printed -------------------------------
(* The Rank Reformation Protocol as a transition system (Phalanx, Figure 2), under  *)
(* the names of phalanx_core.reformation. With every switch FALSE but Abortable it  *)
(* is the printed protocol: equal states, equal transitions. The switches are the   *)
(* fields of Rules of the same name, each a fix or a change to the printed guards.  *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Job,             \* jobs
  Leaf,            \* leaves, interchangeable
  None,            \* owner of a leaf that nobody owns
  MaxFail,         \* leaves that die at most
  PinSurvivors,    \* a plan keeps every live leaf of its job (F1)
  CommitLive,      \* a commit claims live leaves only (F2)
  DetectInRestore, \* a death is detected in Restore as well (F3)
  RestoreLive,     \* a job restores only with all its workers alive (F3)
  FixedGang,       \* a plan has as many leaves as the job owns
  Crashes,         \* an engine may restart between Plan and Commit (F9)
  Abortable        \* Abort exists

VARIABLES live, epoch, phase, alloc, sealed, plan, failures
vars == <<live, epoch, phase, alloc, sealed, plan, failures>>

Assigned(j) == {l \in Leaf : alloc[l] = j}
Whole(j) == Assigned(j) \subseteq live
FreeOrMine(j, P) == \A l \in P : alloc[l] \in {None, j}
CommitGuard(j) == /\ FreeOrMine(j, plan[j])
                  /\ CommitLive => plan[j] \subseteq live
PlanBounds(j, P) == /\ P # {} /\ P \subseteq live /\ FreeOrMine(j, P)
                    /\ PinSurvivors => (Assigned(j) \cap live) \subseteq P
                    /\ FixedGang => Cardinality(P) = Cardinality(Assigned(j))

Init == /\ live = Leaf
        /\ epoch = [j \in Job |-> 0]
        /\ phase = [j \in Job |-> "Run"]
        /\ alloc \in {f \in [Leaf -> Job \cup {None}] :
                        \A j \in Job : Cardinality({l \in Leaf : f[l] = j}) > MaxFail}
        /\ sealed = [j \in Job |-> {0}]
        /\ plan = [j \in Job |-> {}]
        /\ failures = 0
-----------------------------------------------------------------------------
Fail(l) == /\ failures < MaxFail /\ l \in live
           /\ live' = live \ {l} /\ failures' = failures + 1
           /\ UNCHANGED <<epoch, phase, alloc, sealed, plan>>

Detect(j) == /\ phase[j] \in (IF DetectInRestore THEN {"Run", "Restore"} ELSE {"Run"})
             /\ ~Whole(j)
             /\ phase' = [phase EXCEPT ![j] = "Plan"]
             /\ UNCHANGED <<live, epoch, alloc, sealed, plan, failures>>

Plan(j) == /\ phase[j] = "Plan"
           /\ \E P \in SUBSET Leaf : PlanBounds(j, P) /\ plan' = [plan EXCEPT ![j] = P]
           /\ phase' = [phase EXCEPT ![j] = "Commit"]
           /\ UNCHANGED <<live, epoch, alloc, sealed, failures>>

Commit(j) == /\ phase[j] = "Commit" /\ CommitGuard(j)
             /\ alloc' = [l \in Leaf |-> IF l \in plan[j] THEN j
                                         ELSE IF alloc[l] = j THEN None ELSE alloc[l]]
             /\ epoch' = [epoch EXCEPT ![j] = @ + 1]
             /\ phase' = [phase EXCEPT ![j] = "Restore"]
             /\ UNCHANGED <<live, sealed, plan, failures>>

Abort(j) == /\ Abortable /\ phase[j] = "Commit" /\ ~CommitGuard(j)
            /\ phase' = [phase EXCEPT ![j] = "Plan"]
            /\ UNCHANGED <<live, epoch, alloc, sealed, plan, failures>>

Crash(j) == /\ Crashes /\ phase[j] = "Commit"
            /\ phase' = [phase EXCEPT ![j] = "Plan"]
            /\ UNCHANGED <<live, epoch, alloc, sealed, plan, failures>>

Seal(j) == /\ phase[j] = "Run"
           /\ sealed' = [sealed EXCEPT ![j] = @ \cup {epoch[j]}]
           /\ UNCHANGED <<live, epoch, phase, alloc, plan, failures>>

\* One successor for each manifest that is a witness: the counts depend on it.
Restore(j) == /\ phase[j] = "Restore"
              /\ RestoreLive => Whole(j)
              /\ \E e \in sealed[j] : e < epoch[j]
              /\ phase' = [phase EXCEPT ![j] = "Run"]
              /\ UNCHANGED <<live, epoch, alloc, sealed, plan, failures>>

Next == \/ \E l \in Leaf : Fail(l)
        \/ \E j \in Job : \/ Detect(j) \/ Plan(j) \/ Commit(j) \/ Abort(j)
                          \/ Crash(j) \/ Seal(j) \/ Restore(j)

Fairness == \A j \in Job : /\ WF_vars(Detect(j)) /\ WF_vars(Plan(j)) /\ WF_vars(Commit(j))
                           /\ WF_vars(Abort(j)) /\ WF_vars(Restore(j))

Spec == Init /\ [][Next]_vars /\ Fairness
-----------------------------------------------------------------------------
\* The paper's six properties.
TypeOK == /\ live \subseteq Leaf /\ failures \in 0..MaxFail
          /\ epoch \in [Job -> Nat]
          /\ phase \in [Job -> {"Run", "Plan", "Commit", "Restore"}]
          /\ alloc \in [Leaf -> Job \cup {None}]
          /\ \A j \in Job : plan[j] \subseteq Leaf /\ \A e \in sealed[j] : e \in Nat
SealBound == \A j \in Job : sealed[j] # {} /\ \A e \in sealed[j] : e <= epoch[j]
RunWitness == \A j \in Job : (phase[j] = "Run" /\ epoch[j] > 0)
                => \E e \in sealed[j] : e < epoch[j]
RestoreReady == \A j \in Job : phase[j] = "Restore" => \E e \in sealed[j] : e < epoch[j]
EpochMonotone == [][\A j \in Job : epoch'[j] >= epoch[j]]_vars
ReformLive == \A j \in Job : (phase[j] # "Run") ~> (phase[j] = "Run")
-----------------------------------------------------------------------------
\* A set that is strong enough: the six let most faults pass.
Footprint == \A j \in Job : (epoch[j] > 0 /\ phase[j] \in {"Restore", "Run"})
               => Assigned(j) = plan[j]
NonEmpty == \A j \in Job : Assigned(j) # {}
EpochBound == \A j \in Job : epoch[j] <= MaxFail
NoTheft == [][\A l \in Leaf : (alloc[l] \in Job /\ alloc'[l] # alloc[l])
                => (phase[alloc[l]] = "Commit" /\ phase'[alloc[l]] = "Restore")]_vars
SealFence == [][\A j \in Job : sealed'[j] # sealed[j]
                  => /\ sealed[j] \subseteq sealed'[j] /\ phase[j] = "Run"
                     /\ sealed'[j] \ sealed[j] = {epoch[j]}]_vars
EpochStep == [][\A j \in Job : epoch'[j] # epoch[j]
                  => /\ epoch'[j] = epoch[j] + 1
                     /\ phase[j] = "Commit" /\ phase'[j] = "Restore"]_vars
CommitPlanned == [][\A j \in Job : (phase[j] = "Commit" /\ phase'[j] = "Restore")
                      => {l \in Leaf : alloc'[l] = j} = plan[j]]_vars
PlanFeasible == [][\A j \in Job : (phase[j] = "Plan" /\ phase'[j] = "Commit")
                     => /\ plan'[j] # {} /\ plan'[j] \subseteq live
                        /\ FreeOrMine(j, plan'[j])]_vars
PhaseSteps == {<<"Run", "Plan">>, <<"Plan", "Commit">>, <<"Commit", "Restore">>,
               <<"Commit", "Plan">>, <<"Restore", "Run">>}
PhaseStep == [][\A j \in Job : phase'[j] # phase[j]
                  => \/ <<phase[j], phase'[j]>> \in PhaseSteps
                     \/ DetectInRestore /\ <<phase[j], phase'[j]>> = <<"Restore", "Plan">>]_vars
DetectReal == [][\A j \in Job : (phase[j] = "Run" /\ phase'[j] = "Plan") => ~Whole(j)]_vars
Healthy == \A j \in Job : phase[j] = "Run" /\ Whole(j) /\ Assigned(j) # {}
ESR == <>[]Healthy
-----------------------------------------------------------------------------
LeafSymmetry == Permutations(Leaf)
=============================================================================
