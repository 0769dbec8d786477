"""Motion of robots: plans, paths and their timing, contact and grasps."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.planning.contact.contact_plan import ContactArc as ContactArc
    from arcreach.planning.contact.contact_plan import ContactPlan as ContactPlan
    from arcreach.planning.contact.contact_plan import ContactPlans as ContactPlans
    from arcreach.planning.contact.grasp import plan_grasp as plan_grasp
    from arcreach.planning.contact.grasp_plan import GraspPlan as GraspPlan
    from arcreach.planning.contact.grasp_plan import GraspPlans as GraspPlans
    from arcreach.planning.contact.plan import plan_contact as plan_contact
    from arcreach.planning.motion.centre_line import centre_line as centre_line
    from arcreach.planning.motion.follow import follow as follow
    from arcreach.planning.motion.leader import LeaderPath as LeaderPath
    from arcreach.planning.motion.leader import follow_the_leader as follow_the_leader
    from arcreach.planning.motion.path import Path as Path
    from arcreach.planning.motion.plan import plan as plan
    from arcreach.planning.motion.plan_result import Plan as Plan
    from arcreach.planning.timing.motor_table import MotorTable as MotorTable
    from arcreach.planning.timing.timed import Timed as Timed

__getattr__, __dir__ = lazy(
    __name__,
    {
        "contact.contact_plan": "ContactArc ContactPlan ContactPlans",
        "contact.grasp": "plan_grasp",
        "contact.grasp_plan": "GraspPlan GraspPlans",
        "contact.plan": "plan_contact",
        "motion.centre_line": "centre_line",
        "motion.follow": "follow",
        "motion.leader": "LeaderPath follow_the_leader",
        "motion.path": "Path",
        "motion.plan": "plan",
        "motion.plan_result": "Plan",
        "timing.motor_table": "MotorTable",
        "timing.timed": "Timed",
    },
)
